// SPDX-License-Identifier: Apache-2.0
/// Software that looks into memory again and again until the translation agent has written a status
/// there. Where that takes long nothing is simulated of the looks in vain: the next one that can
/// find something comes when it would have come.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "host/host_access.h"

namespace flitwise {

class StatusPoll {
 public:
  /// One look takes `period`; software runs on the edges of `clock`. `bridge` outlives it.
  StatusPoll(HostAccess& bridge, Time period, Time clock);

  /// True: it has to look again.
  using Look = std::function<bool()>;
  /// Looks for the first time one period from now. Several may look at a time.
  void begin(Look look) { after(period_, {std::move(look), 0, {}}); }
  /// A status is about to be written.
  void wake();

 private:
  struct Poller {
    Look look;
    unsigned in_vain = 0;
    Time last{};  // look
  };
  /// So many looks in vain, and it waits to be woken.
  static constexpr unsigned kMostLooks = 1000;

  void after(Time delay, Poller poller);
  void look(Poller poller);

  HostAccess& bridge_;
  const Time period_;
  const Time spacing_;  // of looks: the period, up to a clock edge
  std::vector<Poller> asleep_;
};

}  // namespace flitwise
