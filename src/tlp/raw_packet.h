// SPDX-License-Identifier: Apache-2.0
/// A packet from bytes that anybody may have made: what scripts and hostile devices send.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flitwise/packet.h"

namespace flitwise {

/// Most bytes of one TLP on the wire: what the Length field of an STP token can tell. [LNK-5.8]
inline constexpr std::size_t kMostTlpBytes = 2040U * 4U;

/// Fills a clean packet from the bytes of one TLP. Bytes that do not decode make a malformed packet
/// that travels all the same, padded to whole DWs. model: flow control charges a malformed packet
/// by the class of its Fmt and Type (posted where these name no kind) and by the DWs that are
/// really there. REQUIRES: count <= kMostTlpBytes.
void write_raw(Packet& packet, const std::uint8_t* bytes, std::size_t count);

}  // namespace flitwise
