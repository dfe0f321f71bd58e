// SPDX-License-Identifier: Apache-2.0
/// A read or write of host memory by a stage of an RDMA adapter.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "flitwise/time.h"
#include "hca/structure_registers.h"
#include "network/frame.h"

namespace flitwise {

class HcaModule;

enum class HcaJobKind : std::uint8_t {
  kSendEntries,
  kReceiveEntries,
  kState,
  kStateBack,
  kPayload,  ///< to be sent
  kOperand,  ///< of an atomic
  kResult,   ///< likewise, written back
  kReceived,
  kCompletion,
  kInterrupt
};
inline constexpr int kHcaJobKinds = 10;
/// What of host memory an access is to, where that stays in its place. [EP-1]
constexpr std::optional<StaticStructure> structure_of(HcaJobKind kind) {
  switch (kind) {
    case HcaJobKind::kSendEntries: return StaticStructure::kRingDescriptors;
    case HcaJobKind::kReceiveEntries: return StaticStructure::kRqDescriptors;
    case HcaJobKind::kState:
    case HcaJobKind::kStateBack: return StaticStructure::kQpStateArray;
    case HcaJobKind::kCompletion: return StaticStructure::kCq;
    default: return std::nullopt;
  }
}

/// They tell software of something, and keep their order.
constexpr bool tells(HcaJobKind kind) {
  return kind == HcaJobKind::kCompletion || kind == HcaJobKind::kInterrupt;
}

struct HcaJob {
  HcaJobKind kind = HcaJobKind::kSendEntries;
  bool is_read = true;
  std::uint32_t queue_pair = 0;  ///< of whose rings, memory and domain it is
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::uint64_t tag = 0;               ///< the stage's own
  std::uint64_t needs = 0;             ///< goes out when payload is done through this number
  std::uint8_t* into = nullptr;        ///< of a read; null: `own`
  const std::uint8_t* from = nullptr;  ///< of a write; null: `own`
  std::vector<std::uint8_t> own = {};
  FrameRef frame = {};  ///< that has the bytes
  bool is_last = true;  ///< of it
  bool is_ok = true;
  HcaModule* owner = nullptr;                             ///< that is told of its end
  std::uint32_t token = 0;                                ///< which record it is
  Time ready{};                                           ///< since then it may go
  bool counts = true;                                     ///< it began in the measured part
  bool was_translated = false, was_untranslated = false;  ///< TLPs of it, ahead of use
};

/// It passes nothing that went before it, whatever order payload may go in: it tells of that, or
/// reads or changes what an earlier one has written. [VB-6] [HP-5]
inline bool keeps_order(const HcaJob& job) {
  return tells(job.kind) || job.kind == HcaJobKind::kStateBack || job.kind == HcaJobKind::kState ||
         job.kind == HcaJobKind::kResult || (job.is_read && job.needs > 0);
}

}  // namespace flitwise
