// SPDX-License-Identifier: Apache-2.0
/// The side of a device that software sees: answers configuration requests for all of its functions
/// out of their configuration spaces, and MMIO requests by the owners of their regions of BAR 0
/// (docs/host_software.md).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config_space/capabilities.h"
#include "config_space/dhi_dvsec.h"
#include "config_space/functions.h"
#include "endpoint/bar_access.h"
#include "endpoint/request_seams.h"
#include "flitwise/config.h"
#include "flitwise/packet.h"

namespace flitwise {

/// A part of the function shell, which wakes it and gives its packets to the link. What it sends
/// has a queue of its own, so that no answer ever stands behind a request. [LNK-9.20]
class TargetUnit final {
 public:
  TargetUnit(const DeviceConfig& device, const LinkConfig& link, const DeviceParts& parts,
             SoftwareEffects& software);

  /// A request from the link, or a message for `function`. It takes effect one pipeline delay
  /// later, in order. False: work() has nothing to do about it.
  bool receive(PacketRef packet, Time now, unsigned function = 0);
  /// Does what is due.
  void work(Time now);
  /// When there is more to do or to send; what is ready and was sent away waits for the link.
  Time next_work(Time now) const;
  /// Gives packets that are ready to `send` (false: no room) until it refuses or none is left.
  template <class Send>
  void drain(Time now, Send send);
  bool is_quiet() const {
    return arrived_.empty() && answers_.empty() && messages_.empty() && bar_.open_reads() == 0;
  }
  /// Who waits here, for people; empty where nobody does.
  std::string waiting() const;
  /// What has come in and what would go out is forgotten: the link has gone down. [LNK-10.6]
  void discard();
  /// Who answers for BAR 0 of the functions.
  BarMap& map() { return bar_.map(); }

  /// Made when first asked for. REQUIRES: function < device.functions.count.
  ConfigSpace& space(unsigned function);
  /// A write of software to a function, without a TLP.
  void configure(unsigned function, const CfgAccess& access);
  /// Bus Master Enable of each VF is set, without a TLP and without a word to the hooks.
  void enable_vfs();
  /// Null where the device has none.
  PageRequestInterface* page_requests() { return page_requests_.get(); }
  VirtualFunctions virtual_functions() const { return vfs_; }
  /// Registers of one function, or with function 0 of all, go back to their reset values.
  void reset(unsigned function, ResetKind kind);
  /// Books an error at a function (of one that is not there, at the PF), counts it by kind, and
  /// tells the root complex where software asked for that.
  void report(unsigned function, const char* kind, cfg::aer::Uncorrectable error,
              const Packet& packet, Time now);
  void report(unsigned function, cfg::aer::Correctable error, Time now);
  /// A request of the function has had no answer in time. [LNK-12.10]
  void report_timeout(unsigned function, Time now);

 private:
  struct Arrival {
    PacketRef packet;
    Time due;
    Time answer;
    unsigned function = 0;  // of a message
  };
  struct Outgoing {
    PacketRef packet;
    Time ready;
  };
  bool tell_early(const Packet& packet, Time now);
  std::optional<TlpViolation> violation_of(const Packet& packet) const;
  void perform(const Arrival& arrival, Time now);
  template <class Found>
  void book(unsigned function, const Found& found, Time now);
  void send_message(unsigned function, std::uint8_t code, MsgRouting routing, Time now);
  void message(const Arrival& arrival, Time now);
  bool is_there(unsigned function) const { return function <= vfs_.count; }
  void configuration(const Arrival& arrival, Time now);
  void apply(unsigned function, const WriteEffect& effect);
  void negotiate_again();
  void refresh();
  std::optional<unsigned> target_of(const Tlp& tlp) const;
  void memory_access(const Arrival& arrival, Time now);
  void complete(const Packet& request, const std::vector<std::uint8_t>& bytes, Time ready);
  std::optional<BarAccess::Place> locate(const Tlp& tlp) const;
  unsigned function_behind(const Tlp& request, unsigned named = 0) const;
  Bdf routing_id(unsigned function) const;
  PacketRef completion(const Packet& request, CplStatus status) const;
  void answer(PacketRef packet, Time ready);
  void refuse(const Arrival& arrival, const char* kind, cfg::aer::Uncorrectable error, Time now);

  const DeviceConfig device_;
  const unsigned mps_;
  const DeviceParts s_;
  SoftwareEffects& software_;
  std::unique_ptr<PageRequestInterface> page_requests_;
  EndpointSpaceOptions space_options_;
  DhiDvsec dvsec_;
  std::vector<std::unique_ptr<ConfigSpace>> spaces_;
  bool starts_enabled_ = false;  // the space of a VF is made with Bus Master Enable
  std::uint8_t bus_ = 0;
  VirtualFunctions vfs_;
  BarAccess bar_;
  bool is_working_ = false;  // inside work()
  std::deque<Arrival> arrived_;
  std::deque<Outgoing> answers_, messages_;  // in the order in which they are ready
};

template <class Send>
void TargetUnit::drain(Time now, Send send) {
  for (std::deque<Outgoing>* queue : {&answers_, &messages_}) {
    while (!queue->empty() && queue->front().ready <= now && send(*queue->front().packet)) {
      queue->pop_front();
    }
  }
}

}  // namespace flitwise
