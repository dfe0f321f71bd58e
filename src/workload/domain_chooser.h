// SPDX-License-Identifier: Apache-2.0
/// Which domain the next request belongs to (workload.domain_choice).
#pragma once

#include <cstdint>
#include <memory>

#include "flitwise/config.h"
#include "flitwise/ids.h"
#include "workload/random.h"

namespace flitwise {

struct ChosenDomain {
  DomainId domain{};
  bool ends_context = false;  ///< the context that this domain names ends with this request
};

/// A policy with a random stream of its own. next() allocates nothing.
class DomainChooser {
 public:
  /// REQUIRES: config.domains >= 1.
  static std::unique_ptr<DomainChooser> make(const WorkloadConfig& config, const Random& random);

  DomainChooser() = default;
  DomainChooser(const DomainChooser&) = delete;
  DomainChooser& operator=(const DomainChooser&) = delete;
  virtual ~DomainChooser() = default;

  virtual ChosenDomain next() = 0;
};

/// Under churn, domain ids per live context: an ended id rests until all others were used.
inline constexpr std::uint32_t kChurnPoolFactor = 4;

}  // namespace flitwise
