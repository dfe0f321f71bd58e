// SPDX-License-Identifier: Apache-2.0
#include "trace_summary/transaction_path.h"

#include <algorithm>

#include "common/ranges.h"

namespace flitwise {
namespace {

/// Steps up to a moment each. What would go back takes no time, and none goes past the end.
class Way {
 public:
  Way(std::int64_t issue, std::int64_t done) : at_(issue), done_(done) {}

  void to(std::int64_t time, Cause cause, std::size_t wire = WireBook::kNone) {
    const std::int64_t until = std::min(time, done_);
    if (until > at_) {
      steps_.push_back({cause, wire, at_, until, is_answer_});
      at_ = until;
    }
  }
  void turn() { is_answer_ = true; }
  std::vector<PathStep> finish(Cause rest) {
    to(done_, rest);
    return std::move(steps_);
  }

 private:
  std::int64_t at_, done_;
  bool is_answer_ = false;
  std::vector<PathStep> steps_;
};

/// The attempts of each wire, in the order in which these are reached.
std::vector<std::vector<Send>> by_wire(const std::vector<Send>& sends) {
  std::vector<std::vector<Send>> wires;
  for (const Send& send : sends) {
    auto* const own = find_where(
        wires, [&send](const auto& attempts) { return attempts.front().wire == send.wire; });
    if (own == nullptr) {
      wires.push_back({send});
    } else {
      own->push_back(send);
    }
  }
  for (auto& attempts : wires) {
    std::stable_sort(attempts.begin(), attempts.end(),
                     [](const Send& a, const Send& b) { return a.first < b.first; });
  }
  std::stable_sort(wires.begin(), wires.end(),
                   [](const auto& a, const auto& b) { return a.front().first < b.front().first; });
  return wires;
}

/// A copy that comes later has been sent without need: the first one had arrived.
const Send& arrived(const std::vector<Send>& attempts, std::int64_t until) {
  const auto last = std::find_if(attempts.rbegin(), attempts.rend(),
                                 [until](const Send& send) { return send.last <= until; });
  return last == attempts.rend() ? attempts.back() : *last;
}

/// until: when it had arrived at the far end.
void add_wires(Way& way, const std::vector<Send>& sends, Cause wait_for_first, std::int64_t until) {
  const auto wires = by_wire(sends);
  for (std::size_t i = 0; i < wires.size(); ++i) {
    const Send& first = wires[i].front();
    const Send& good = arrived(wires[i], i + 1 < wires.size() ? wires[i + 1].front().first : until);
    way.to(first.first, i == 0 ? wait_for_first : Cause::kSwitch, first.wire);
    way.to(good.first, Cause::kAgain, first.wire);
    way.to(good.last, Cause::kWire, first.wire);
  }
}

/// Of the completion that came last; its uid is the same on all wires.
std::vector<Send> last_answer(const Transaction& transaction) {
  const auto last = std::max_element(transaction.answers.begin(), transaction.answers.end(),
                                     [](const Send& a, const Send& b) { return a.last < b.last; });
  return those(transaction.answers, [last](const Send& send) { return send.uid == last->uid; });
}

}  // namespace

const char* name_of(Cause cause) {
  constexpr const char* kNames[] = {"handle", "admission", "wire_busy", "queue",
                                    "wire",   "again",     "switch",    "receiver",
                                    "link",   "root_port", "memory",    "answer"};
  static_assert(std::size(kNames) == kCauses);
  return name_in(kNames, cause);
}

const char* text_of(Cause cause) {
  constexpr const char* kTexts[] = {"identity settled, or handle",
                                    "tag, translation, queue room",
                                    "first wire busy with others",
                                    "credits, order, replay room",
                                    "own symbols on wires",
                                    "sent again",
                                    "through switches",
                                    "flight and receiver",
                                    "link, units not in the trace",
                                    "identity at the root port",
                                    "translation and memory",
                                    "answer back"};
  static_assert(std::size(kTexts) == kCauses);
  return name_in(kTexts, cause);
}

std::vector<PathStep> steps_of(const Transaction& transaction) {
  if (!transaction.latency()) {
    return {};
  }
  Way way(*transaction.stamped(Hop::kIssue), *transaction.done);
  const auto to = [&](Hop hop, Cause cause, std::size_t wire = WireBook::kNone) {
    if (const auto time = transaction.stamped(hop)) {
      way.to(*time, cause, wire);
    }
  };
  const std::vector<Send>& sends = transaction.sends;
  const std::size_t first_wire = sends.empty() ? WireBook::kNone : sends.front().wire;
  to(Hop::kHandle, Cause::kHandle);
  to(Hop::kQueued, Cause::kAdmission);
  to(Hop::kSent, Cause::kQueue, first_wire);
  // In flits the first symbols may be in an earlier flit than the one that the unit ends in.
  add_wires(way, sends, Cause::kWire,
            transaction.stamped(Hop::kReceived).value_or(*transaction.done));
  to(Hop::kReceived, sends.empty() ? Cause::kLink : Cause::kReceiver);
  to(Hop::kResolved, Cause::kRootPort);
  to(Hop::kMemory, Cause::kMemory);
  way.turn();
  if (!transaction.answers.empty()) {
    add_wires(way, last_answer(transaction), Cause::kAnswer, *transaction.done);
    return way.finish(Cause::kReceiver);
  }
  return way.finish(Cause::kAnswer);
}

}  // namespace flitwise
