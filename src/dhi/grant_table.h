// SPDX-License-Identifier: Apache-2.0
/// What the host lets each function ask for: PASIDs, contexts of them, trust and capabilities.
/// [DHI S3]
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/ranges.h"
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
  /// Of each PASID, for every kind: PASID p has the contexts p * n to p * n + n - 1, no PASID those
  /// from 0 on. kMostContexts: any.
  std::uint32_t contexts = 0;

  /// Any PASID and context, every capability, never trusted.
  static Grant any() {
    return {{{Pasid{0}, Pasid{(1U << kPasidBits) - 1U}}},
            true,
            false,
            kKnownCapabilities,
            kMostContexts};
  }

  bool has(OptionalId<Pasid> pasid) const {
    return !pasid ? without_pasid : any_of(pasids, [&](const PasidRange& range) {
      return to_int(*pasid) >= to_int(range.lower) && to_int(*pasid) <= to_int(range.upper);
    });
  }
  /// The context of that process; none is the process itself.
  bool has(OptionalId<Pasid> pasid, ContextId context) const {
    const std::uint64_t first = std::uint64_t{pasid ? to_int(*pasid) : 0U} * contexts;
    return !context || contexts == kMostContexts ||
           (context.number() >= first && context.number() < first + contexts);
  }
};

/// Grants by BDF, O(1): check() is asked once per ALLOC and once per message that names its
/// domain in full, is_trusted() and capabilities() once per message with a handle.
class GrantTable {
 public:
  /// Functions without a grant of their own are refused.
  GrantTable() : grants_(1), index_(kFunctions, 0) {}
  /// Functions without a grant of their own have this one: an open machine.
  explicit GrantTable(const Grant& unlisted)
      : grants_{unlisted}, index_(kFunctions, 0), unlisted_allowed_(true) {}

  /// REQUIRES: no capability that is unknown.
  void set(Bdf function, const Grant& grant) {
    std::uint32_t& index = index_[function.value];
    if (index == 0) {
      index = static_cast<std::uint32_t>(grants_.size());
      grants_.emplace_back();
    }
    grants_[index] = grant;
  }

  /// What an ALLOC asks for.
  HandleStatus check(const AllocMessage& message) const {
    const HandleStatus domain = check(message.identity);
    if (domain != HandleStatus::kOk) {
      return domain;
    }
    const Grant& grant = grants_[index_[message.identity.bdf.value]];
    if (!grant.has(message.identity.pasid, message.context)) {
      return HandleStatus::kContextNotGranted;
    }
    if (message.is_trusted && !grant.trusted) {
      return HandleStatus::kTrustNotGranted;
    }
    const bool is_capable =
        (message.capabilities & ~static_cast<unsigned>(grant.capabilities)) == 0;
    return is_capable ? HandleStatus::kOk : HandleStatus::kCapabilityNotGranted;
  }
  /// A domain alone: the function and its PASID. kOk, kFunctionNotGranted or kPasidNotGranted.
  HandleStatus check(const DeviceIdentity& identity) const {
    const std::uint32_t index = index_[identity.bdf.value];
    if (index == 0 && !unlisted_allowed_) {
      return HandleStatus::kFunctionNotGranted;
    }
    return grants_[index].has(identity.pasid) ? HandleStatus::kOk : HandleStatus::kPasidNotGranted;
  }

  bool is_trusted(Bdf function) const { return grants_[index_[function.value]].trusted; }
  std::uint16_t capabilities(Bdf function) const {
    return grants_[index_[function.value]].capabilities;
  }

 private:
  static constexpr std::size_t kFunctions = 65536;
  std::vector<Grant> grants_;         // [0]: unlisted functions
  std::vector<std::uint32_t> index_;  // by BDF
  bool unlisted_allowed_ = false;
};

}  // namespace flitwise
