// SPDX-License-Identifier: Apache-2.0
// Handles that the host has the device give up. [DHI D15]
#include <algorithm>

#include "endpoint/dhi_agent.h"

namespace flitwise {

// There is room for each tag, and nothing has to be sent for it. One that is used again before its
// answer is the seventeenth, or a mistake.
const char* DhiAgent::take(const DeallocOrder& order, Bdf addressed, Bdf base) {
  if (!is_active_) {
    return "stale_handle_order";
  }
  const bool is_taken = std::any_of(orders_.begin(), orders_.end(),
                                    [&](const Order& one) { return one.order.tag == order.tag; });
  if (is_taken) {
    return "handle_order_tag_in_use";
  }
  const HandleStatus status = check(order.message, base);
  if (status == HandleStatus::kOk) {
    table_->hold(order.tag, order.message);
  }
  orders_.push_back({order, addressed, status});
  return nullptr;
}

HandleStatus DhiAgent::check(const DeallocMessage& message, Bdf base) const {
  const HandleStatus status = table_->check(message);
  const unsigned function = static_cast<std::uint16_t>(message.function.value - base.value);
  const bool is_strange =
      message.scope == DeallocScope::kFunction && function >= config_.functions.count;
  return status == HandleStatus::kOk && is_strange ? HandleStatus::kRequesterMismatch : status;
}

// All handles of an order go at once, just before its DONE: what is allocated from then on is
// behind the DONE on the link, and not among what the host frees. [DHI D8]
void DhiAgent::answer_orders(std::vector<PacketRef>& first) {
  const auto is_over = [this](const Order& one) {
    return one.status != HandleStatus::kOk || table_->is_drained(one.order.tag);
  };
  for (const Order& one : orders_) {
    if (!is_over(one)) {
      continue;
    }
    if (one.status == HandleStatus::kOk) {
      table_->release(one.order.tag);
    }
    PacketRef packet = pool_.make(PacketKind::kTlp);
    write_done(*packet, one.addressed, {one.order.tag, one.status, one.order.message.epoch});
    first.push_back(std::move(packet));
  }
  orders_.erase(std::remove_if(orders_.begin(), orders_.end(),
                               [this](const Order& one) {
                                 return one.status != HandleStatus::kOk ||
                                        !table_->is_held(unsigned{one.order.tag});
                               }),
                orders_.end());
}

}  // namespace flitwise
