// SPDX-License-Identifier: Apache-2.0
/// Fields of frames that sessions are told apart by, beside those of network/roce_headers.h.
#pragma once

#include "network/roce_headers.h"

namespace flitwise::frame_field {

// Of IPv4.
inline constexpr RoceField kSourceAddress{"src", 96, 32}, kDestinationAddress{"dst", 128, 32};
// Of UDP.
inline constexpr RoceField kSourcePort{"src_port", 0, 16}, kDestinationPort{"dst_port", 16, 16};
// Of BTH.
inline constexpr RoceField kDestinationPair{"dest_qp", 40, 24};

}  // namespace flitwise::frame_field
