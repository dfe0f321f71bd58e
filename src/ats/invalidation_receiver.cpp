// SPDX-License-Identifier: Apache-2.0
// The function's side of the invalidation protocol.
#include "ats/invalidation_receiver.h"

#include <string>

#include "flitwise/error.h"

namespace flitwise {

InvalidationReceiver::InvalidationReceiver(const InvalidationReceiverConfig& config,
                                           TranslationCache& cache,
                                           OutstandingTranslations& requests, TranslatedUses& uses,
                                           const PostedWrites& writes)
    : config_(config), cache_(cache), requests_(requests), uses_(uses), writes_(writes) {}

InvalidateVerdict InvalidationReceiver::check(const InvalidateRequest& request) const {
  if (!config_.rounds_up && request.range.size_bits < stu_bits(stu_)) {
    return InvalidateVerdict::kUnsupportedRequest;
  }
  return by_itag_[request.itag % kItags].is_busy ? InvalidateVerdict::kBusyItag
                                                 : InvalidateVerdict::kAccept;
}

InvalidationReceiver::Effect InvalidationReceiver::accept(const InvalidateRequest& request) {
  FLITWISE_CHECK(check(request) == InvalidateVerdict::kAccept,
                 "ITag " + std::to_string(request.itag));
  const PageRange range = rounded_up_to_stu(request.range, stu_);
  const InvalidationScope scope = scope_of(request);
  const unsigned itag = request.itag % kItags;
  first_agent_ = first_agent_.value_or(request.agent);
  Effect effect;
  effect.removed = cache_.invalidate(range, scope);
  effect.discarded = requests_.invalidate(range, scope);
  effect.waits_for = uses_.hold(range, scope, itag);
  by_itag_[itag] = {config_.keeps_agent_id ? *first_agent_ : request.agent, request.function,
                    effect.waits_for, true};
  ++pending_;
  (effect.waits_for == 0 ? ready_ : waiting_).push_back(itag);
  return effect;
}

void InvalidationReceiver::end_use(Slot use) {
  const std::uint32_t released = uses_.close(use);
  std::optional<Slot> next = released != 0 ? waiting_.front() : std::nullopt;
  while (next) {  // In the order of the requests.
    const Slot itag = *next;
    next = waiting_.next(itag);
    if ((released >> itag & 1U) != 0 && --by_itag_[itag].waits_for == 0) {
      waiting_.erase(itag);
      ready_.push_back(itag);
    }
  }
}

InvalidateCompletion InvalidationReceiver::take_completion() {
  FLITWISE_CHECK(has_completion(), "no Invalidate Completion is due");
  if (copies_left_ == 0) {
    start_answer();
  }
  answer_.tc = static_cast<std::uint8_t>(__builtin_ctz(copies_left_));
  copies_left_ = static_cast<std::uint8_t>(copies_left_ & (copies_left_ - 1));
  if (copies_left_ == 0) {
    for (std::uint32_t itags = answer_.itag_vector; itags != 0; itags &= itags - 1) {
      by_itag_[static_cast<unsigned>(__builtin_ctz(itags))].is_busy = false;
      --pending_;
    }
  }
  return answer_;
}

// The oldest ITag that is ready, and with it those that may share its message: copies of one
// answer have the same vector and count, so that it is settled before the first of them goes.
void InvalidationReceiver::start_answer() {
  const Slot oldest = *ready_.front();
  const std::uint8_t classes = writes_.open_classes();
  copies_left_ = classes == 0 ? std::uint8_t{1} : classes;
  answer_ = {by_itag_[oldest].agent, by_itag_[oldest].function, 0,
             static_cast<std::uint8_t>(__builtin_popcount(copies_left_)), 0};
  std::optional<Slot> next = oldest;
  while (next) {
    const Slot itag = *next;
    next = config_.coalesces ? ready_.next(itag) : std::nullopt;
    if (by_itag_[itag].agent == answer_.agent) {
      answer_.itag_vector |= 1U << itag;
      ready_.erase(itag);
    }
  }
}

void InvalidationReceiver::reset() {
  uses_.clear();
  by_itag_ = {};
  for (Slot itag = 0; itag < kItags; ++itag) {
    waiting_.erase(itag);
    ready_.erase(itag);
  }
  copies_left_ = 0;
  pending_ = 0;
  first_agent_.reset();
}

}  // namespace flitwise
