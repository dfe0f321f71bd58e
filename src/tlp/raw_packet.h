// SPDX-License-Identifier: Apache-2.0
/// A packet from bytes that anybody may have made: what scripts and hostile devices send.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "flitwise/packet.h"

namespace flitwise {

/// Most bytes of one TLP on the wire: what the Length field of an STP token can tell. [LNK-5.8]
inline constexpr std::size_t kMostTlpBytes = 2040U * 4U;

/// Fills a clean packet from the bytes of one TLP. Bytes that do not decode make a malformed packet
/// that travels all the same, padded to whole DWs. model: flow control charges a malformed packet
/// by the class of its Fmt and Type (posted where these name no kind) and by the DWs that are
/// really there. Its payload holds the DWs of its header as they came, at most four, and nothing
/// else. REQUIRES: count <= kMostTlpBytes.
void write_raw(Packet& packet, const std::uint8_t* bytes, std::size_t count);

/// The header as the receiver of the packet saw it, for its log. Prefixes are left out, and DWs
/// that are not there are 0. [LNK-12.14]
std::array<std::uint32_t, 4> received_header(const Packet& packet);

}  // namespace flitwise
