// SPDX-License-Identifier: Apache-2.0
/// Invalidations at the translation agent: ITags of each function, how many may be out, and when
/// one is complete.
/// [INV-08] to [INV-20] [INV-31] [INV-32]
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ats/ats_messages.h"
#include "common/slot_list.h"
#include "flitwise/time.h"

namespace flitwise {

/// Requests that a function takes: 0 in the register means 32. [INV-32]
constexpr unsigned invalidate_queue_depth(unsigned field) {
  return field == 0 || field > kItags ? kItags : field;
}

/// What one Invalidate Completion did; bit n stands for ITag n.
struct CompletionReport {
  std::uint32_t retired = 0;     ///< invalidations that are complete now
  std::uint32_t unexpected = 0;  ///< nothing is out under this ITag [INV-13] [INV-14]
  std::uint32_t mismatched = 0;  ///< a copy that differs from the first, or comes twice on one
                                 ///< class: not counted [INV-10] [INV-12]
};

class InvalidationSender {
 public:
  /// agent: the ID its messages carry. timeout: devices answer within 60 s; an agent may wait up to
  /// half as long again. [INV-20]
  InvalidationSender(Bdf agent, Time timeout) : agent_(agent), timeout_(timeout) {}

  /// Makes room for one more, and returns its index. REQUIRES: the function is new.
  unsigned add_function(Bdf function);
  /// depth_field: Invalidate Queue Depth of its ATS capability, as software says it from now on.
  void set_depth(unsigned function, unsigned depth_field) {
    functions_[function].depth = invalidate_queue_depth(depth_field);
  }
  std::optional<unsigned> index_of(Bdf function) const;

  /// Whether the function can take one more now; else the caller keeps it. [INV-18] [INV-31]
  bool can_send(unsigned function) const;
  /// Takes the lowest free ITag for a request that leaves now. REQUIRES: can_send(); now never goes
  /// back.
  /// [INV-16] [INV-17]
  std::uint8_t send(unsigned function, Time now);

  /// Counts a completion in. One that names another agent or comes from a function that is not
  /// known has nothing out. [INV-14] [INV-15]
  CompletionReport complete(const InvalidateCompletion& completion);
  std::uint32_t outstanding(unsigned function) const { return functions_[function].busy; }
  unsigned all_outstanding() const { return out_.size(); }
  Bdf id_of(unsigned function) const { return functions_[function].id; }

  /// An invalidation without an answer in time; its ITag is free again. [INV-20]
  struct Expired {
    unsigned function;
    std::uint8_t itag;
  };
  std::optional<Time> next_deadline() const;
  /// The next one whose deadline is not after now, if there is one; call until there is none.
  std::optional<Expired> expire(Time now);

 private:
  struct Function {
    Bdf id;
    unsigned depth = kItags;
    std::uint32_t busy = 0;  ///< bit n: ITag n is out
  };
  struct Request {
    Time deadline{};
    std::uint32_t vector = 0;           ///< of the first copy
    std::uint8_t completion_count = 0;  ///< of the first copy; 0: none came yet
    std::uint8_t classes = 0;           ///< bit n: a copy came on traffic class n
  };
  static Slot slot_of(unsigned function, unsigned itag) { return function * kItags + itag; }
  std::vector<unsigned>::const_iterator place_of(Bdf function) const;
  void release(unsigned function, unsigned itag);
  bool is_next_copy(const Request& request, const InvalidateCompletion& completion) const;

  const Bdf agent_;
  const Time timeout_;
  std::vector<Function> functions_;
  std::vector<unsigned> by_id_;  ///< indices in order of Bdf
  std::vector<Request> requests_;
  SlotList out_{0};  ///< oldest first
};

}  // namespace flitwise
