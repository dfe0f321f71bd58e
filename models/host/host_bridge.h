// SPDX-License-Identifier: Apache-2.0
/// The way of host software to devices: configuration and MMIO accesses that become TLPs at a root
/// port, and the registers of the host itself (docs/host_software.md).
#pragma once

#include <systemc>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/component.h"
#include "common/due_queue.h"
#include "common/wakeup.h"
#include "flitwise/config.h"
#include "host/handle_blocks.h"
#include "host/host_access.h"
#include "host/host_port.h"
#include "iommu/translation_agent.h"
#include "tlp/splitter.h"

namespace flitwise {

class HostBridge : public ComponentModule, public HostAccess, private DeviceWay {
 public:
  /// software: whose accesses these are, in reports.
  HostBridge(const sc_core::sc_module_name& name, const HostConfig& config, PacketPool& pool,
             std::string software = "host software");

  /// The next root port, as function of bus 0. REQUIRES: before the start.
  HostPort& attach(DownstreamPort& port, const LinkPreset& link, HostPort::Facts facts);
  /// The next block of handle registers, for the host's handles of one device.
  void attach(HostHandles& handles, const DownstreamPort& port);
  /// The agent whose registers software reaches by MMIO. REQUIRES: before the start.
  void attach(TranslationAgent& agent);

  // HostAccess:
  void config(const CfgAccess& access, Done done) override;
  void read(std::uint64_t address, unsigned bytes, Done done) override;
  bool write(std::uint64_t address, const std::uint8_t* bytes, std::size_t size,
             bool counts) override;
  void after(Time delay, std::function<void()> what) override;
  void grant_handles(unsigned block, BusRange buses, HandleRange range) override {
    handles_.grant(block, buses, range);
  }

  unsigned ports() const { return static_cast<unsigned>(ports_.size()); }
  ConfigSpace& space(unsigned port) { return ports_[port]->space; }
  /// Of the root port's own function. REQUIRES: port < ports().
  Bdf bdf_of(unsigned port) const { return around_.routes->port_bdf(port); }
  std::uint64_t steps() const { return steps_; }  ///< of host software, taken so far

  // Component:
  bool is_quiet() const override { return requests_.is_quiet() && agenda_.empty(); }
  void add_progress(Progress& sum) const override { sum.steps += steps_; }
  /// master_abort, completion_timeout, link_down.
  Counts errors() const override { return errors_; }
  void observe(const Observer& observer) override {
    requests_.observer = &observer;
    requests_.place = name();
  }
  std::string waiting() const override;
  void count_repeats(Counts& counts) const override;
  void start_window() override { requests_.tag_waits.start_window(now()); }
  /// For a tag.
  std::vector<WaitResult> waits() const override {
    return {
        requests_.tag_waits.result({name(), "tags", ResourceRole::kSlots, "down", "", "", 256})};
  }

 private:
  void work();
  HostPort* port_below(const Tlp& tlp);
  PacketRef memory_request(TlpType type, const RequestPiece& piece) const;
  bool is_agent(std::uint64_t address) const {
    return around_.agent != nullptr && address / 4096 == kAgentRegisters / 4096;
  }
  bool is_own(std::uint64_t address) const { return is_agent(address) || handles_.has(address); }
  void write_own(std::uint64_t address, const std::vector<std::uint8_t>& bytes);
  bool send_message(PacketRef packet, Time delay) override;

  const std::string software_;
  const Time mmio_;
  PacketPool& pool_;
  Wakeup wakeup_;
  DueQueue<std::function<void()>> agenda_;
  std::uint64_t steps_ = 0;
  Counts errors_;
  HostRequestTable requests_;
  HandleBlocks handles_;
  PortSurroundings around_{*this, requests_, handles_};
  std::vector<std::unique_ptr<HostPort>> ports_;
};

}  // namespace flitwise
