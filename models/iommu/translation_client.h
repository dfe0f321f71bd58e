// SPDX-License-Identifier: Apache-2.0
/// The translation agent as those see it who ask it, and they as it sees them.
#pragma once

#include <cstdint>

#include "flitwise/time.h"
#include "iommu/walk.h"

namespace flitwise {

class TranslationClient {
 public:
  virtual ~TranslationClient() = default;
  /// The outcome for this ticket; it counts from `when` on, which is now or later.
  virtual void translated(std::uint64_t ticket, const WalkResult& result, Time when) = 0;

  /// Something has been invalidated: what was asked before may still be used in the old way.
  virtual void invalidated() {}
  /// Nothing that was asked before the latest invalidation is left; TranslationService::drained()
  /// when that becomes true. [IQU-04]
  virtual bool is_drained() const { return true; }
};

/// Implemented by TranslationAgent.
class TranslationService {
 public:
  /// Does software have requests translated?
  virtual bool is_enabled() const = 0;
  /// Waits ask the client whether it is drained. It outlives the agent's last use.
  virtual void attach(TranslationClient& client) = 0;
  /// A client is.
  virtual void drained() = 0;
  /// A request that reaches the agent `delay` from now; the client hears of the outcome, perhaps
  /// within this call. token: of the packet, for fault events.
  virtual void translate(TranslationClient& client, std::uint64_t ticket,
                         const WalkRequest& request, std::uint32_t token, Time delay) = 0;

 protected:
  ~TranslationService() = default;
};

}  // namespace flitwise
