// SPDX-License-Identifier: Apache-2.0
/// The way of host software to devices: configuration and MMIO accesses that become TLPs at a root
/// port, and the registers of the root ports themselves, on bus 0 (docs/host_software.md).
#pragma once

#include <systemc>

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/wakeup.h"
#include "config_space/dhi_dvsec.h"
#include "dhi/handle_registers.h"
#include "flitwise/config.h"
#include "host/host_access.h"
#include "iommu/translation_agent.h"
#include "root_complex/host_handles.h"
#include "root_complex/port_seams.h"
#include "routing/routing_table.h"
#include "stats/wait_book.h"
#include "tlp/reassembly.h"
#include "tlp/splitter.h"
#include "tlp/tag_pool.h"

namespace flitwise {

class HostBridge : public sc_core::sc_module,
                   public HostAccess,
                   private HandleTables,
                   private DeviceWay {
 public:
  HostBridge(const sc_core::sc_module_name& name, const HostConfig& config, PacketPool& pool);

  /// The next root port, as function of bus 0; returns its index. REQUIRES: before the start.
  struct PortFacts {
    bool can_be_disabled = true;  ///< nothing but a device is at the other end of its link
    bool has_siblings = false;    ///< other functions of the same device
  };
  unsigned attach(DownstreamPort& port, const LinkPreset& link, PortFacts facts);
  unsigned ports() const { return static_cast<unsigned>(ports_.size()); }
  /// The next block of handle registers, for the host's handles of one device; returns its index.
  unsigned attach(HostHandles& handles, DownstreamPort& port);
  /// The agent whose registers software reaches by MMIO. REQUIRES: before the start.
  void attach(TranslationAgent& agent);
  /// What a hot reset of the link below the port does there, and whether it is over and all that
  /// was sent before has arrived. [DHI D4]
  struct HotReset {
    std::function<void()> start;
    std::function<bool()> is_over;
  };
  void on_hot_reset(unsigned port, HotReset action);
  /// The link below a port, for its Link Disable. [LNK-10.4] to [LNK-10.8]
  struct LinkControl {
    std::function<void()> take_down;
    std::function<bool()> may_come_up;  ///< both ends are done with what came before
    std::function<void()> bring_up;
    std::function<bool()> is_up;
  };
  void on_link_disable(unsigned port, LinkControl control);

  // HostAccess:
  void config(const CfgAccess& access, Done done) override;
  void read(std::uint64_t address, unsigned bytes, Done done) override;
  bool write(std::uint64_t address, const std::uint8_t* bytes, std::size_t size,
             bool counts) override;
  void after(Time delay, std::function<void()> what) override;
  void grant_handles(unsigned block, BusRange buses, HandleRange range) override;

  ConfigSpace& space(unsigned port) { return ports_[port]->space; }
  /// Of the root port's own function. REQUIRES: port < ports().
  Bdf bdf_of(unsigned port) const { return routes_->port_bdf(port); }
  /// Interrupt writes from functions on these buses.
  std::uint64_t interrupts(BusRange buses) const;
  std::uint64_t accesses() const { return last_serial_; }  ///< non-posted ones that went down
  std::uint64_t steps() const { return steps_; }           ///< of host software, taken so far
  bool is_quiet() const { return in_flight_ == 0 && waiting_.empty() && agenda_.empty(); }
  /// master_abort, completion_timeout, link_down.
  const std::map<std::string, std::uint64_t>& errors() const { return errors_; }
  std::string waiting() const;
  /// Waits for a tag.
  WaitBook& tag_waits() { return tag_waits_; }
  const WaitBook& tag_waits() const { return tag_waits_; }

 private:
  enum class LinkState : std::uint8_t { kUp, kDisabled, kDraining, kTraining };
  struct Port final : PortHost {
    Port(HostBridge& bridge, unsigned index, DownstreamPort& port, const LinkPreset& link,
         PortFacts facts);
    void interrupt(const Packet& packet) override;
    void message(const Packet& packet) override;
    bool complete(const PacketRef& packet, Time when) override;
    void report(cfg::aer::Uncorrectable error, const Packet& packet) override;
    void report(cfg::aer::Correctable error) override;
    void report(const FoundError& found);
    void tell_root(std::optional<std::uint8_t> message_code);

    HostBridge& bridge;
    const unsigned index;
    DownstreamPort& port;
    DhiDvsec dvsec;
    ConfigSpace space;
    HotReset hot_reset;
    LinkControl link;
    LinkState link_state = LinkState::kUp;
    bool is_polled = false;  // somebody will look whether it comes up
  };
  struct HandleBlock {
    HostHandles& handles;
    DownstreamPort& port;
    HandleRegisters registers;
    std::optional<BusRange> buses;    // absent: nothing was granted
    HandleRange granted;              // counts where the port has several devices
    bool is_reset_under_way = false;  // its entries go when the hot reset is over
  };
  struct Request {
    PacketRef packet;
    unsigned port = 0;
    Done done;
    Time since{};  // it waits for a tag
  };
  struct Outstanding {
    Request request;
    Reassembly reassembly;
    HostAnswer answer;
    std::uint64_t serial = 0;  // 0: free
  };
  struct Deadline {
    Time when;
    std::uint16_t tag;
    std::uint64_t serial;
  };

  void work();
  void check_timeouts();
  void own_config(unsigned port, const CfgAccess& access, const Done& done);
  void apply(unsigned port, const WriteEffect& effect);
  Negotiated handles_of(const Port& port) const;
  bool set_handles(HandleBlock& block, const Port& port);
  void negotiate_again(Port& port);
  void start_hot_reset(Port& port);
  void end_hot_reset(Port& port);
  void begin_reset_of_handles(const Port& port);
  void end_reset_of_handles(const Port& port);
  void link_disable_written(unsigned port);
  void train_link(Port& port);
  void refuse_requests_of(unsigned port);
  PacketRef memory_request(TlpType type, const RequestPiece& piece) const;
  void send_nonposted(Request request);
  bool completed(unsigned port, const PacketRef& packet, Time when);
  void finish(std::uint16_t tag, Time delay);
  void write_own(std::uint64_t address, const std::vector<std::uint8_t>& bytes);
  std::uint64_t read_own(std::uint64_t address, unsigned bytes) const;
  bool is_agent(std::uint64_t address) const {
    return agent_ != nullptr && address / 4096 == kAgentRegisters / 4096;
  }
  void command(HandleBlock& block, const HandleCommand& order);
  std::optional<Device> device_of(Bdf function) const override;
  HandleStatus answered(Bdf function, const DeallocMessage& message, HandleStatus answer) override;
  HostHandleTable* table_with(Bdf function) const;
  bool is_own(std::uint64_t address) const {
    return is_agent(address) || (address >= kHandleBlocks &&
                                 address < handle_block(static_cast<unsigned>(blocks_.size())));
  }
  HandleBlock& block_at(std::uint64_t address) { return blocks_[(address - kHandleBlocks) / 4096]; }
  const HandleBlock& block_at(std::uint64_t address) const {
    return blocks_[(address - kHandleBlocks) / 4096];
  }
  void refuse(const Done& done);
  bool send_message(PacketRef packet, Time delay) override;

  const Time mmio_;
  const Time step_;
  const Time completion_timeout_;
  PacketPool& pool_;
  TranslationAgent* agent_ = nullptr;
  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<HandleBlock> blocks_;
  std::array<std::uint64_t, 256> interrupts_{};  // by bus
  std::optional<RoutingTable> routes_;
  std::multimap<std::int64_t, std::function<void()>> agenda_;  // by time in fs
  Wakeup wakeup_;
  TagPool tags_{8};
  std::vector<Outstanding> outstanding_;  // by tag
  std::size_t in_flight_ = 0;
  std::uint64_t last_serial_ = 0, steps_ = 0;
  std::deque<Deadline> deadlines_;
  std::deque<Request> waiting_;  // for a tag
  WaitBook tag_waits_;
  std::map<std::string, std::uint64_t> errors_;
};

}  // namespace flitwise
