// SPDX-License-Identifier: Apache-2.0
/// A device at its link: the sockets, what waits to be sent, and whose turn it is: engines share
/// the request path, TLPs as they stand come after all others.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "common/outbox.h"
#include "common/wakeup.h"
#include "endpoint/request_seams.h"
#include "endpoint/reset_control.h"
#include "flitwise/link_socket.h"

namespace flitwise {

class FunctionShell final : public DeviceOutput {
 public:
  LinkTarget<FunctionShell> from_link{"from_link"};
  LinkInitiator<FunctionShell> to_link{"to_link"};

  /// pipeline: from engine to link. To be made inside the constructor of the device's module.
  FunctionShell(Time clock, Time pipeline, const PacketSizer& sizer,
                const DeviceFunctions& functions, DeviceContexts& contexts,
                EndpointCounters& counters);
  /// Its neighbours, before the simulation starts.
  void connect(TransferPath& transfers, DeviceTarget& target, DeviceEvents& events) {
    transfers_ = &transfers;
    target_ = &target;
    events_ = &events;
  }

  /// Engines take turns. To be called before the simulation starts.
  void attach(Engine& engine) {
    engines_.push_back(&engine);
    ask_engines();
  }
  /// One engine that makes its TLPs itself; it comes after all others.
  void attach_raw(RawEngine& engine) { raw_ = &engine; }
  const std::vector<Engine*>& engines() const { return engines_; }
  RawEngine* raw() const { return raw_; }
  /// The link is down: no request of the raw engine that is out will have an answer. [LNK-10.6]
  void link_lost(Time now);
  /// TLPs with a wrong ECRC are dropped and reported. [LNK-12.7]
  void check_ecrc(bool is_checked) { checks_ecrc_ = is_checked; }

  /// Takes work from the engines as long as there is room and nothing has to be waited for.
  void pump(Time now);
  /// A packet as if the device had made it, without any of its rules.
  void inject(PacketRef packet);
  /// Gives the link a packet past all that waits to be sent; false: no room.
  bool offer(Packet& packet) { return flitwise::hand_over(to_link, packet, now()); }
  /// A packet of which this is true waits to be sent.
  template <class Condition>
  bool has_unsent(Condition condition) const {
    return outbox_.has(condition);
  }
  bool has_unsent() const { return !outbox_.empty(); }

  void send(PacketRef packet, Time ready, HandlePin posted_pin) override;
  bool is_full(FcClass fc) const override { return is_full_[static_cast<std::size_t>(fc)]; }
  bool may_leave(FcClass fc, Time now) override;
  void wake_at(Time when) override { wakeup_.at(when); }
  void end_at(Time when) override {
    next_end_ = std::min(next_end_, when);
    ends_wakeup_.at(when);
  }
  void ask_engines() override { idle_until_ = Time{}; }
  void begin_duties() override { has_duties_ = true; }

  bool is_quiet() const { return outbox_.empty() && (raw_ == nullptr || raw_->is_done()); }
  void start_window(Time now) { outbox_.waits().start_window(now); }
  /// Waits for room in the link's queues, which have so much of it.
  WaitResult waits(const std::string& place, std::size_t room) const {
    return outbox_.waits().result(
        {place, "link_queues", ResourceRole::kQueue, "up", "", "link.queue_depth", room});
  }
  std::size_t unsent() const { return outbox_.size(); }

 private:
  tlm::tlm_sync_enum receive(int id, Packet& packet, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum link_has_room(int id, Packet& packet, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay);
  void work();
  bool begin_transfer(Time now);
  bool drop_stopped(Engine& engine, Time now);
  bool hand_over(const Outbox::Entry& entry);
  void send_raw(PacketRef packet, Time ready, Time now);
  void check_raw_timeouts(Time now);

  const Time pipeline_;
  const PacketSizer& sizer_;
  const DeviceFunctions& functions_;
  DeviceContexts& contexts_;
  EndpointCounters& counters_;
  TransferPath* transfers_ = nullptr;
  DeviceTarget* target_ = nullptr;
  DeviceEvents* events_ = nullptr;
  std::vector<Engine*> engines_;
  std::size_t turn_ = 0;
  Time idle_until_{};  // no engine has work before, save as ask_engines() says
  RawEngine* raw_ = nullptr;
  Transfer transfer_;  // scratch: what an engine gives, cleared
  // A message and what goes out before it may find no room together: DEALLOC, ALLOC, flush, itself.
  Outbox outbox_{8};
  Wakeup wakeup_;
  Wakeup ends_wakeup_;             // an engine goes on at that very moment
  Time next_end_ = Time::never();  // likewise
  bool has_duties_ = false;
  std::array<bool, kFcClasses> is_full_{};  // the link's queue, until it says that there is room
  Time full_since_ = Time::never();         // the next TLP waits for that room
  bool checks_ecrc_ = false;
};

}  // namespace flitwise
