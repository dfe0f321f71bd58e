// SPDX-License-Identifier: Apache-2.0
/// Orders of software that devices carry out and answer: invalidations of their TLBs, and handles
/// that they give up. The device gives a handle up first, then the host does, and only then the
/// command is answered. [INV-16] [DHI D15] [IOM-5.9]
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ats/invalidation.h"
#include "dhi/dealloc_sender.h"
#include "flitwise/result.h"
#include "iommu/agent_seams.h"

namespace flitwise {

class DeviceOrders {
 public:
  /// timeout: how long an answer may take. counts: its rows of the agent's counters.
  DeviceOrders(Time timeout, AgentEvents& events, IommuResult& counts)
      : events_(events),
        counts_(counts),
        device_tlbs_(kRootComplexId, timeout),
        handles_(timeout) {}

  /// Whose handles it frees.
  void reach_handles(HandleTables& tables) { handle_tables_ = &tables; }

  /// Sends the order, or holds it until the device has room for it. REQUIRES: none is held. A
  /// function that cannot be reached, or has no such thing, does not answer. [INV-18] [INV-31]
  void carry_out(const DeviceTlbInvalidation& command, Time now);
  void carry_out(const HandleInvalidation& command, Time now);
  bool is_holding() const { return held_.has_value(); }
  /// Tries again. REQUIRES: is_holding()
  void send_held(Time now);

  struct Answer {
    unsigned orders = 0;         ///< that are over now
    bool is_unexpected = false;  ///< it answers nothing, or the host had to refuse it
  };
  Answer complete(const InvalidateCompletion& completion, Time now);
  Answer complete(Bdf function, const DeallocDone& done);
  /// The handle by which one went is another domain's now, or nobody's: it may have been taken for
  /// another domain, or for none. It goes again in full, under an ITag of its own, and that one is
  /// the order from then on. Nothing happens where it is over. [DHI D21]
  void strayed(Bdf function, std::uint8_t itag, Time now);
  /// A function that has not answered in time; its order is over. Call until there is none.
  /// [IQU-07] [INV-20]
  std::optional<Bdf> expire(Time now);
  Time next_timeout() const;  ///< never: nothing is out

  bool is_quiet() const {
    return !held_ && again_.empty() && device_tlbs_.all_awaited() == 0 &&
           handles_.outstanding() == 0;
  }
  std::string waiting(const char* at) const;

 private:
  unsigned function_of(Bdf source);
  void send(unsigned function, const DeviceTlbInvalidation& command, bool is_in_full, Time now);
  void send_again(Time now);
  template <class Command>
  void hold(const Command& command) {
    counts_.held_back += held_ ? 0 : 1;
    held_ = command;
  }

  AgentEvents& events_;
  IommuResult& counts_;
  InvalidationSender device_tlbs_;
  DeallocSender handles_;
  HandleTables* handle_tables_ = nullptr;
  // By function and ITag, of devices with handles: what may have to go again.
  std::map<std::pair<unsigned, unsigned>, DeviceTlbInvalidation> may_stray_;
  std::vector<std::pair<unsigned, DeviceTlbInvalidation>> again_;  // as soon as there is an ITag
  std::optional<std::variant<DeviceTlbInvalidation, HandleInvalidation>> held_;
};

}  // namespace flitwise
