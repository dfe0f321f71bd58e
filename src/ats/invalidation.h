// SPDX-License-Identifier: Apache-2.0
/// Invalidations at both ends. At the translation agent: ITags of each function, how many may be
/// out, and when one is complete. At the function: what each Invalidate Request removes, what it
/// waits for, and the Invalidate Completions that answer it. [INV-01] to [INV-32]
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ats/ats_messages.h"
#include "ats/outstanding_translations.h"
#include "ats/translated_uses.h"
#include "ats/translation_cache.h"
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
  /// The device of the function, if requests may go to it by a handle: one that goes to another of
  /// its functions is answered by that one. So no two of them have an ITag out at once. [DHI D21]
  void set_device(unsigned function, std::optional<Bdf> first_function) {
    functions_[function].device = first_function;
  }
  bool has_handles(unsigned function) const { return functions_[function].device.has_value(); }

  /// Whether the function can take one more now; else the caller keeps it. [INV-18] [INV-31]
  bool can_send(unsigned function) const;
  /// Takes the lowest free ITag for a request that leaves now. REQUIRES: can_send(); now never goes
  /// back.
  /// [INV-16] [INV-17]
  std::uint8_t send(unsigned function, Time now);

  /// Counts a completion in. One that names another agent or comes from a function that is not
  /// known has nothing out. [INV-14] [INV-15]
  CompletionReport complete(const InvalidateCompletion& completion);
  /// It may have been taken for another domain: whatever answers it frees the ITag, and retires
  /// nothing. False: it is not out, or known to be astray. [DHI D21]
  bool stray(unsigned function, std::uint8_t itag);
  std::uint32_t outstanding(unsigned function) const { return functions_[function].busy; }
  /// Without those that are astray.
  std::uint32_t awaited(unsigned function) const {
    return functions_[function].busy & ~functions_[function].astray;
  }
  unsigned all_awaited() const { return out_.size() - astray_; }
  bool has_astray() const { return astray_ != 0; }
  std::size_t functions() const { return functions_.size(); }
  Bdf id_of(unsigned function) const { return functions_[function].id; }

  /// An invalidation without an answer in time; its ITag is free again. [INV-20]
  struct Expired {
    unsigned function;
    std::uint8_t itag;
    bool is_astray;  ///< nobody waits for it
  };
  std::optional<Time> next_deadline() const;
  /// The next one whose deadline is not after now, if there is one; call until there is none.
  std::optional<Expired> expire(Time now);

 private:
  struct Function {
    Bdf id;
    unsigned depth = kItags;
    std::optional<Bdf> device{};  ///< whose functions share ITags; none: it has its own
    std::uint32_t busy = 0;       ///< bit n: ITag n is out
    std::uint32_t astray = 0;     ///< ... and may have been taken for another domain
  };
  struct Request {
    Time deadline{};
    std::uint32_t vector = 0;           ///< of the first copy
    std::uint8_t completion_count = 0;  ///< of the first copy; 0: none came yet
    std::uint8_t classes = 0;           ///< bit n: a copy came on traffic class n
  };
  static Slot slot_of(unsigned function, unsigned itag) { return function * kItags + itag; }
  std::vector<unsigned>::const_iterator place_of(Bdf function) const;
  std::uint32_t taken(unsigned function) const;
  std::optional<unsigned> asked_under(unsigned function, unsigned itag) const;
  void release(unsigned function, unsigned itag);
  bool is_next_copy(const Request& request, const InvalidateCompletion& completion) const;

  const Bdf agent_;
  const Time timeout_;
  std::vector<Function> functions_;
  std::vector<unsigned> by_id_;  ///< indices in order of Bdf
  std::vector<Request> requests_;
  SlotList out_{0};  ///< oldest first
  unsigned astray_ = 0;
};

// ---- at the function

struct InvalidationReceiverConfig {
  bool coalesces = false;       ///< completions of several ITags in one message [INV-11]
  bool rounds_up = true;        ///< a range below the STU: grown to it, or refused [INV-21]
  bool keeps_agent_id = false;  ///< answers go to who asked first after a reset [INV-30]
};

enum class InvalidateVerdict : std::uint8_t {
  kAccept,
  kUnsupportedRequest,  ///< no ATS, or a range below the STU that is not rounded up
  kBusyItag,            ///< the agent uses an ITag anew that is not answered yet [INV-17]
};

/// Accepting a request never waits for sending an answer.
class InvalidationReceiver {
 public:
  /// What one request did, for counters and traces.
  struct Effect {
    unsigned removed = 0;    ///< entries of the ATC
    unsigned discarded = 0;  ///< Translation Requests that lost all or part of their reply
    unsigned waits_for = 0;  ///< open uses of the range
  };

  /// The parts of the same function; all must outlive this.
  InvalidationReceiver(const InvalidationReceiverConfig& config, TranslationCache& cache,
                       OutstandingTranslations& requests, TranslatedUses& uses,
                       const PostedWrites& writes);

  void set_stu(unsigned stu) { stu_ = stu; }  ///< 0..31, of the ATS capability

  /// Asks. Neither E nor Bus Master Enable matters, and 32 requests always fit.
  /// [INV-19] [INV-21] [INV-23] [INV-25]
  InvalidateVerdict check(const InvalidateRequest& request) const;
  /// Removes, discards, and finds out what to wait for. REQUIRES: check() said kAccept.
  Effect accept(const InvalidateRequest& request);
  /// A use of a translation has ended: closes it and lets go of who waited. [INV-04] [INV-26]
  void end_use(Slot use);

  /// Whether a completion can go now.
  bool has_completion() const { return copies_left_ != 0 || ready_.size() != 0; }
  /// The next completion to stand in the posted queue of its traffic class, behind all writes that
  /// are there: one copy for each class with open writes, one on TC 0 where there is none.
  /// REQUIRES: has_completion().
  /// [INV-07] [INV-08] [INV-09] [INV-11] [INV-29]
  InvalidateCompletion take_completion();

  unsigned pending() const { return pending_; }  ///< requests not wholly answered
  /// Function level or conventional reset: all is forgotten, nothing is sent. [CFG-03]
  void reset();

 private:
  struct Request {
    Bdf agent, function;
    unsigned waits_for = 0;
    bool is_busy = false;
  };
  void start_answer();

  const InvalidationReceiverConfig config_;
  TranslationCache& cache_;
  OutstandingTranslations& requests_;
  TranslatedUses& uses_;
  const PostedWrites& writes_;
  unsigned stu_ = 0;
  std::array<Request, kItags> by_itag_{};
  SlotList waiting_{kItags};      ///< ITags that wait for uses, oldest first
  SlotList ready_{kItags};        ///< ITags in the order in which they got ready
  InvalidateCompletion answer_;   ///< the one whose copies are going out
  std::uint8_t copies_left_ = 0;  ///< bit n: on traffic class n
  unsigned pending_ = 0;
  std::optional<Bdf> first_agent_;
};

/// Whose entries the request is about. [INV-33] [INV-34]
constexpr InvalidationScope scope_of(const InvalidateRequest& request) {
  return {request.pasid, request.is_global && request.pasid.has_value()};
}

}  // namespace flitwise
