// SPDX-License-Identifier: Apache-2.0
// ITags, Completion Counts and timeouts.
#include "ats/invalidation.h"

#include <algorithm>
#include <string>

#include "flitwise/error.h"

namespace flitwise {

std::vector<unsigned>::const_iterator InvalidationSender::place_of(Bdf function) const {
  return std::lower_bound(by_id_.begin(), by_id_.end(), function,
                          [this](unsigned known, Bdf id) { return functions_[known].id < id; });
}

unsigned InvalidationSender::add_function(Bdf function) {
  FLITWISE_CHECK(!index_of(function), "function " + std::to_string(function.value));
  const auto index = static_cast<unsigned>(functions_.size());
  requests_.resize(requests_.size() + kItags);
  out_.grow(static_cast<unsigned>(requests_.size()));
  by_id_.insert(place_of(function), index);
  functions_.push_back({function});
  return index;
}

std::optional<unsigned> InvalidationSender::index_of(Bdf function) const {
  const auto place = place_of(function);
  return place != by_id_.end() && functions_[*place].id == function
             ? std::optional<unsigned>(*place)
             : std::nullopt;
}

bool InvalidationSender::can_send(unsigned function) const {
  const Function& one = functions_[function];
  return static_cast<unsigned>(__builtin_popcount(one.busy)) < one.depth && ~taken(function) != 0;
}

// ITags that a new request may not have.
std::uint32_t InvalidationSender::taken(unsigned function) const {
  const Function& one = functions_[function];
  std::uint32_t taken = one.busy;
  for (std::size_t i = 0; one.device && i < functions_.size(); ++i) {
    taken |= functions_[i].device == one.device ? functions_[i].busy : 0;
  }
  return taken;
}

bool InvalidationSender::stray(unsigned function, std::uint8_t itag) {
  Function& one = functions_[function];
  const std::uint32_t bit = 1U << itag;
  if ((one.busy & ~one.astray & bit) == 0) {
    return false;
  }
  one.astray |= bit;
  ++astray_;
  return true;
}

// The function whose request an answer of this one is about: its own, or one of its device that has
// gone astray.
std::optional<unsigned> InvalidationSender::asked_under(unsigned function, unsigned itag) const {
  const Function& one = functions_[function];
  if ((one.busy >> itag & 1U) != 0) {
    return function;
  }
  for (unsigned i = 0; one.device && i < functions_.size(); ++i) {
    if (functions_[i].device == one.device && (functions_[i].astray >> itag & 1U) != 0) {
      return i;
    }
  }
  return std::nullopt;
}

std::uint8_t InvalidationSender::send(unsigned function, Time now) {
  FLITWISE_CHECK(can_send(function), "no ITag for function " + std::to_string(function));
  Function& one = functions_[function];
  const auto itag = static_cast<unsigned>(__builtin_ctz(~taken(function)));
  one.busy |= 1U << itag;
  requests_[slot_of(function, itag)] = {now + timeout_};
  out_.push_back(slot_of(function, itag));
  return static_cast<std::uint8_t>(itag);
}

CompletionReport InvalidationSender::complete(const InvalidateCompletion& completion) {
  CompletionReport report;
  const std::optional<unsigned> function = index_of(completion.function);
  if (!function || completion.agent != agent_) {
    report.unexpected = completion.itag_vector;
    return report;
  }
  for (std::uint32_t left = completion.itag_vector; left != 0; left &= left - 1) {
    const auto itag = static_cast<unsigned>(__builtin_ctz(left));
    const std::optional<unsigned> asked = asked_under(*function, itag);
    if (!asked) {
      report.unexpected |= 1U << itag;
      continue;
    }
    Request& request = requests_[slot_of(*asked, itag)];
    if (!is_next_copy(request, completion)) {
      report.mismatched |= 1U << itag;
      continue;
    }
    request.vector = completion.itag_vector;
    request.completion_count = completion.completion_count;
    request.classes = static_cast<std::uint8_t>(request.classes | 1U << completion.tc);
    if (__builtin_popcount(request.classes) == request.completion_count) {
      report.retired |= awaited(*asked) & 1U << itag;
      release(*asked, itag);
    }
  }
  return report;
}

// The first copy sets what all others must repeat, each on a traffic class of its own.
bool InvalidationSender::is_next_copy(const Request& request,
                                      const InvalidateCompletion& completion) const {
  const bool is_first = request.completion_count == 0;
  return is_first || (request.vector == completion.itag_vector &&
                      request.completion_count == completion.completion_count &&
                      (request.classes >> completion.tc & 1U) == 0);
}

void InvalidationSender::release(unsigned function, unsigned itag) {
  Function& one = functions_[function];
  astray_ -= one.astray >> itag & 1U;
  one.busy &= ~(1U << itag);
  one.astray &= one.busy;
  out_.erase(slot_of(function, itag));
}

std::optional<Time> InvalidationSender::next_deadline() const {
  const std::optional<Slot> oldest = out_.front();
  return oldest ? std::optional<Time>(requests_[*oldest].deadline) : std::nullopt;
}

std::optional<InvalidationSender::Expired> InvalidationSender::expire(Time now) {
  const std::optional<Slot> oldest = out_.front();
  if (!oldest || requests_[*oldest].deadline > now) {
    return std::nullopt;
  }
  const unsigned function = *oldest / kItags;
  const unsigned itag = *oldest % kItags;
  const bool is_astray = (functions_[function].astray >> itag & 1U) != 0;
  release(function, itag);
  return Expired{function, static_cast<std::uint8_t>(itag), is_astray};
}

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
