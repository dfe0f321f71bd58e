// SPDX-License-Identifier: Apache-2.0
/// What breaks rules on purpose: `faults.break` (docs/monitors.md) and `faults.drop_completions`.
/// The classes that keep the rules know of no fault: where one can strike, they let a function
/// change what they use or say. Those made here are empty where the rule is kept; each other breaks
/// its rule once, but those of credits and of invalidations whenever they can.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "dhi/handle_types.h"
#include "flitwise/config.h"
#include "flitwise/cxl.h"
#include "flitwise/dllp.h"
#include "flitwise/flit.h"
#include "tlp/splitter.h"

namespace flitwise {

template <class Hook>
std::function<Hook> if_broken(bool is_broken, std::function<Hook> breach) {
  return is_broken ? std::move(breach) : nullptr;
}

/// An Ack names what has not been delivered yet. [LNK-7.15]
inline auto broken_acks(const FaultsConfig& faults) {
  using Number = std::uint16_t;
  return if_broken<Number(Number, Number)>(faults.breaks(BrokenRule::kSequence),
                                           [is_due = true](Number accepted, Number next) mutable {
                                             return std::exchange(is_due, false) ? next : accepted;
                                           });
}

/// An UpdateFC of dedicated credits is taken for more than it says. [LNK-8.3]
inline auto broken_updates(const FaultsConfig& faults) {
  return if_broken<Dllp(Dllp)>(faults.breaks(BrokenRule::kCredits), [](Dllp told) {
    if (told.type == DllpType::kUpdateFc && !told.is_shared) {
      told.hdr_fc = static_cast<std::uint8_t>(told.hdr_fc + 1);
      told.data_fc = static_cast<std::uint16_t>(told.data_fc + 16);  // 256 bytes
    }
    return told;
  });
}

/// Credits of CXL.cache and CXL.mem are taken for twice as many. [CXL-3.1]
inline auto broken_cxl_credits(const FaultsConfig& faults) {
  using Told = CxlFlitHeader::Credits;
  return if_broken<Told(Told)>(faults.breaks(BrokenRule::kCredits), [](Told told) {
    told.count = static_cast<std::uint8_t>(told.count * 2);
    return told;
  });
}

/// A request crosses a 4 KiB boundary, has a First BE of 0 or a reserved AT, as soon as it can.
inline auto broken_requests(const FaultsConfig& faults) {
  bool boundary = faults.breaks(BrokenRule::kBoundary4k);
  bool enables = faults.breaks(BrokenRule::kByteEnables);
  bool at = faults.breaks(BrokenRule::kAt);
  return if_broken<void(Tlp&)>(boundary || enables || at, [=](Tlp& request) mutable {
    const bool is_long = request.length_dw > 1;
    if (is_long && std::exchange(boundary, false)) {
      request.address |= 0xffcU;  // the last DW of its page [LNK-9.14]
    } else if (is_long && std::exchange(enables, false)) {
      request.first_be = 0;  // [LNK-2.8]
    } else if (std::exchange(at, false)) {
      request.at = AddressType::kReserved;  // [LNK-1.5]
    }
  });
}

/// A read takes a tag that is out. [LNK-9.8]
inline auto broken_tags(const FaultsConfig& faults) {
  using Tag = std::uint16_t;
  return if_broken<Tag(Tag, Tag)>(
      faults.breaks(BrokenRule::kTags), [is_due = true](Tag own, Tag oldest) mutable {
        return own != oldest && std::exchange(is_due, false) ? oldest : own;
      });
}

/// A Byte Count is too large [LNK-9.12]; false: the read gets no answer at all.
inline auto broken_completions(const FaultsConfig& faults) {
  const bool is_broken = faults.breaks(BrokenRule::kCompletion);
  return if_broken<bool(CompletionPiece&)>(
      is_broken || faults.drop_completions > 0,
      [is_due = is_broken, to_drop = faults.drop_completions](CompletionPiece& piece) mutable {
        if (to_drop > 0) {
          --to_drop;
          return false;
        }
        const unsigned excess = std::exchange(is_due, false) ? 4 : 0;
        piece.byte_count = static_cast<std::uint16_t>(piece.byte_count + excess);
        return true;
      });
}

/// An ALLOC stands for another domain. [DHI S2]
inline auto broken_allocs(const FaultsConfig& faults) {
  return if_broken<void(AllocMessage&)>(
      faults.breaks(BrokenRule::kHandles), [is_due = true](AllocMessage& alloc) mutable {
        if (alloc.identity.pasid && std::exchange(is_due, false)) {
          alloc.identity.pasid = Pasid{to_int(*alloc.identity.pasid) ^ 1U};
        }
      });
}

/// A recall goes ahead of what was granted before it. [COH-3.14]
inline auto broken_recalls(const FaultsConfig& faults) {
  return if_broken<bool()>(faults.breaks(BrokenRule::kRecall),
                           [is_due = true]() mutable { return std::exchange(is_due, false); });
}

/// An Invalidate Completion waits for no request of a cache. [INV-04]
inline auto broken_invalidations(const FaultsConfig& faults) {
  return if_broken<bool()>(faults.breaks(BrokenRule::kInvalidation), [] { return true; });
}

/// A snoop or BISnp is answered by its sender, and the cache keeps its line. [COH-1.2]
inline auto broken_snoops(const FaultsConfig& faults) {
  using Answer = std::optional<CxlMessage>;
  return if_broken<Answer(const CxlMessage&)>(
      faults.breaks(BrokenRule::kSingleWriter), [is_due = true](const CxlMessage& sent) mutable {
        CxlMessage answer;
        answer.id = sent.id;
        if (sent.channel == CxlChannel::kH2dReq) {
          answer.channel = CxlChannel::kD2hRsp;
          answer.opcode = static_cast<std::uint8_t>(cxl::D2hRsp::kRspIHitI);
        } else if (sent.channel == CxlChannel::kS2mBiSnp) {
          answer.channel = CxlChannel::kM2sBiRsp;
          answer.opcode = static_cast<std::uint8_t>(cxl::M2sBiRsp::kBiRspI);
        } else {
          return Answer();
        }
        return std::exchange(is_due, false) ? Answer(answer) : Answer();
      });
}

}  // namespace flitwise
