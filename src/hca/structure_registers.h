// SPDX-License-Identifier: Apache-2.0
/// Address registers of the static structures of a function, in host memory, with the context that
/// says whether the address is translated already; and what an access by them is. [EP-1] [EP-5]
#pragma once

#include <cstdint>

#include "common/ranges.h"
#include "flitwise/tlp.h"

namespace flitwise {

/// Structures that stay where they are while the driver of a function runs.
enum class StaticStructure : std::uint8_t {
  kQpStateArray,
  kQpFetchList,
  kCqDescriptors,
  kCq,
  kRqDescriptors,
  kSrqDescriptors,
  kRingDescriptors,
  kDmaValidTable
};
inline constexpr unsigned kStaticStructures = 8;
constexpr const char* name_of(StaticStructure structure) {
  constexpr const char* kNames[] = {
      "QP_STATE_ARRAY", "QP_FETCH_LIST", "CQ_DESC",   "CQ",
      "RQ_DESC_ARRAY",  "SRQ_DESC",      "RING_DESC", "DMA_VALID_TABLE"};
  return name_in(kNames, structure);
}

struct StructureRegister {
  std::uint64_t address = 0;       ///< of the guest; pretranslated: of the machine
  std::uint64_t bytes = 0;         ///< 0: nothing is there
  bool is_pretranslated = false;   ///< requests carry AT=10
  bool is_valid = false;           ///< an address is there
  bool allows_translation = true;  ///< else it is never pre-translated
};

/// What an access to a structure is to do.
struct StructureAccess {
  enum class Verdict : std::uint8_t {
    kGo,
    kWait,  ///< the address is gone until the firmware has set it anew [EP-7]
    kFault  ///< it is beyond the structure: no request leaves [EP-C13]
  };
  Verdict verdict = Verdict::kFault;
  AddressType at = AddressType::kUntranslated;
  std::uint64_t address = 0;
};
constexpr const char* name_of(StructureAccess::Verdict verdict) {
  constexpr const char* kNames[] = {"go", "wait", "fault"};
  return name_in(kNames, verdict);
}
constexpr StructureAccess access_of(const StructureRegister& structure, std::uint64_t offset,
                                    std::uint64_t bytes) {
  using Verdict = StructureAccess::Verdict;
  if (bytes > structure.bytes || offset > structure.bytes - bytes) {
    return {};
  }
  if (!structure.is_valid) {
    return {Verdict::kWait, AddressType::kUntranslated, 0};
  }
  return {
      Verdict::kGo,
      structure.is_pretranslated ? AddressType::kTranslated : AddressType::kUntranslated,
      structure.address + offset,
  };
}

}  // namespace flitwise
