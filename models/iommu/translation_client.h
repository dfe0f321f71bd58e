// SPDX-License-Identifier: Apache-2.0
/// Who asks the translation agent.
#pragma once

#include <cstdint>

#include "flitwise/link_socket.h"
#include "iommu/walk.h"

namespace flitwise {

class TranslationClient {
 public:
  virtual ~TranslationClient() = default;
  /// The outcome for this ticket; it counts from `when` on, which is now or later.
  virtual void translated(std::uint64_t ticket, const WalkResult& result, Time when) = 0;

  /// Something has been invalidated: what was asked before may still be used in the old way.
  virtual void invalidated() {}
  /// Nothing that was asked before the latest invalidation is left; TranslationAgent::drained()
  /// when that becomes true. [IQU-04]
  virtual bool is_drained() const { return true; }
};

}  // namespace flitwise
