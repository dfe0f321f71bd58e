// SPDX-License-Identifier: Apache-2.0
/// Invalidations at the function: what each Invalidate Request removes, what it waits for, and the
/// Invalidate Completions that answer it. Accepting one never waits for sending another.
/// [INV-01] to [INV-09] [INV-11] [INV-19] to [INV-30]
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "ats/ats_messages.h"
#include "ats/outstanding_translations.h"
#include "ats/translated_uses.h"
#include "ats/translation_cache.h"

namespace flitwise {

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
