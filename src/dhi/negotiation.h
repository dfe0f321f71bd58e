// SPDX-License-Identifier: Apache-2.0
/// Whether a host and a device use handles, and which ones. [DHI D5, D6]
#pragma once

#include <cstdint>
#include <vector>

#include "dhi/handle_types.h"
#include "flitwise/config.h"

namespace flitwise {

/// What one end announces and what software set there.
struct HandleEnd {
  bool is_supported = false;
  bool is_enabled = false;
  unsigned bits = 0;  ///< widest handle it can hold, 2..12
  std::uint8_t epoch = 0;
};

enum class NegotiationOutcome : std::uint8_t {
  kActive,
  kNotSupported,   ///< one end lacks it
  kNotEnabled,     ///< software left one end off
  kHopNotAware,    ///< a switch on the way does not pass handles
  kBadRange,       ///< bounds the wrong way round or beyond what both ends can hold
  kEpochMismatch,  ///< one end was reset alone [DHI D4]
};
const char* name_of(NegotiationOutcome outcome);

/// Anything but kActive means: full identifiers.
struct Negotiated {
  NegotiationOutcome outcome = NegotiationOutcome::kNotSupported;
  HandleRange range;
  unsigned bits = 0;  ///< handle width on the wire: the narrower of the two ends
  std::uint8_t epoch = 0;
  bool is_active() const { return outcome == NegotiationOutcome::kActive; }
};

/// `range` is what the host gave the device; `every_hop_aware` is true for direct attach.
Negotiated negotiate(const HandleEnd& host, const HandleEnd& device, HandleRange range,
                     bool every_hop_aware);

/// Contiguous ranges of one shared table, by device: the narrowest ones get the lowest handles, and
/// those of one width share equally what the narrower ones left; handles left over stay unused.
/// Empty ranges where nothing was left. [DHI D2, D6]
std::vector<HandleRange> partition_handles(unsigned entries, const std::vector<unsigned>& bits);

}  // namespace flitwise
