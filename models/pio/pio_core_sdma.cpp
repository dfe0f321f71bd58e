// SPDX-License-Identifier: Apache-2.0
// Packets that threads send by SDMA: a thread describes them, the device fetches them.
#include <algorithm>

#include "pio/pio_core.h"
#include "pio/sdma_driver.h"

namespace flitwise {

// A hostile process writes into its own pages of the window alone.
bool PioCore::goes_by_sdma(const Thread& thread) const {
  const Bytes from = config_.cores.sdma_from;
  return from > 0 && thread.item.bytes >= from &&
         !thread.contexts[to_int(thread.item.domain)].hostile;
}

// The descriptors take their time; then ring and IIO need room, for which the thread waits as it
// does for credits.
bool PioCore::send_by_sdma(Thread& thread, Time now) {
  const CoresConfig& cores = config_.cores;
  if (!thread.is_described) {
    thread.is_described = true;
    spend(thread,
          std::max(cores.timing.descriptor, cores.timing.clock) *
              SdmaDriver::descriptors_of(thread.item.bytes),
          describing_, now);
    return true;
  }
  if (!has_room(now)) {
    return false;
  }
  Context& context = thread.contexts[to_int(thread.item.domain)];
  if (context.was_reset && !look_at_credits(thread, context, now)) {
    return true;  // the thread recovers it first
  }
  if (!hooks_.send_by_sdma(context.number, thread.item.bytes, next_vl(context), thread.begun)) {
    thread.ring_wait.begin(now);
    thread.free = now + cores.timing.credit_poll;
    return false;
  }
  thread.ring_wait.end(ring_waits_, now);
  ++context.packets;
  ++packets_;
  thread.has_item = thread.is_described = false;
  return true;
}

}  // namespace flitwise
