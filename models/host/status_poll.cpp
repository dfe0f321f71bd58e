// SPDX-License-Identifier: Apache-2.0
// Looks at a status in memory.
#include "host/status_poll.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "flitwise/link_socket.h"

namespace flitwise {

StatusPoll::StatusPoll(HostAccess& bridge, Time period, Time clock)
    : bridge_(bridge), period_(period), spacing_(next_edge(std::max(period, clock), clock)) {}

void StatusPoll::after(Time delay, Poller poller) {
  bridge_.after(delay, [this, poller = std::move(poller)] { look(poller); });
}

void StatusPoll::look(Poller poller) {
  if (!poller.look()) {
    return;
  }
  if (++poller.in_vain < kMostLooks) {
    after(period_, std::move(poller));
  } else {
    poller.last = now();
    asleep_.push_back(std::move(poller));
  }
}

void StatusPoll::wake() {
  std::vector<Poller> all;
  all.swap(asleep_);
  for (Poller& one : all) {
    const std::int64_t since = (now() - one.last).fs;
    const std::int64_t looks = std::max<std::int64_t>(1, (since + spacing_.fs - 1) / spacing_.fs);
    one.in_vain = 0;
    after(one.last + spacing_ * looks - now(), std::move(one));
  }
}

}  // namespace flitwise
