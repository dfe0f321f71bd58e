// SPDX-License-Identifier: Apache-2.0
/// What the host lets each function ask for: PASIDs, trust and capabilities. [DHI S3]
#pragma once

#include <cstdint>
#include <vector>

#include "dhi/handle_types.h"
#include "flitwise/ids.h"

namespace flitwise {

struct PasidRange {
  Pasid lower{};
  Pasid upper{};  ///< inside the range
};

/// Everything one function may put into an ALLOC.
struct Grant {
  std::vector<PasidRange> pasids;
  bool without_pasid = true;  ///< handles that name the BDF alone
  bool trusted = false;
  std::uint16_t capabilities = 0;

  /// Any PASID, every capability, never trusted.
  static Grant any();
};

/// Grants by BDF, O(1): check() is asked once per ALLOC and once per message that names its
/// domain in full, is_trusted() and capabilities() once per message with a handle.
class GrantTable {
 public:
  /// Functions without a grant of their own are refused.
  GrantTable();
  /// Functions without a grant of their own have this one: an open machine.
  explicit GrantTable(const Grant& unlisted);

  void set(Bdf function, const Grant& grant);

  /// What an ALLOC asks for.
  HandleStatus check(const AllocMessage& message) const;
  /// A domain alone: the function and its PASID. kOk, kFunctionNotGranted or kPasidNotGranted.
  HandleStatus check(const DeviceIdentity& identity) const;

  bool is_trusted(Bdf function) const { return grants_[index_[function.value]].trusted; }
  std::uint16_t capabilities(Bdf function) const {
    return grants_[index_[function.value]].capabilities;
  }

 private:
  std::vector<Grant> grants_;         // [0]: unlisted functions
  std::vector<std::uint32_t> index_;  // by BDF
  bool unlisted_allowed_ = false;
};

}  // namespace flitwise
