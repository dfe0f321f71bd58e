// SPDX-License-Identifier: Apache-2.0
// ITags, Completion Counts and timeouts.
#include "ats/invalidation_sender.h"

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
  return static_cast<unsigned>(__builtin_popcount(one.busy)) < one.depth;
}

std::uint8_t InvalidationSender::send(unsigned function, Time now) {
  FLITWISE_CHECK(can_send(function), "no ITag for function " + std::to_string(function));
  Function& one = functions_[function];
  const auto itag = static_cast<unsigned>(__builtin_ctz(~one.busy));
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
  const std::uint32_t known = completion.itag_vector & functions_[*function].busy;
  report.unexpected = completion.itag_vector & ~known;
  for (std::uint32_t left = known; left != 0; left &= left - 1) {
    const auto itag = static_cast<unsigned>(__builtin_ctz(left));
    Request& request = requests_[slot_of(*function, itag)];
    if (!is_next_copy(request, completion)) {
      report.mismatched |= 1U << itag;
      continue;
    }
    request.vector = completion.itag_vector;
    request.completion_count = completion.completion_count;
    request.classes = static_cast<std::uint8_t>(request.classes | 1U << completion.tc);
    if (__builtin_popcount(request.classes) == request.completion_count) {
      release(*function, itag);
      report.retired |= 1U << itag;
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
  functions_[function].busy &= ~(1U << itag);
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
  release(function, itag);
  return Expired{function, static_cast<std::uint8_t>(itag)};
}

}  // namespace flitwise
