// SPDX-License-Identifier: Apache-2.0
/// Frames that a script changes or makes up.
#pragma once

#include "script/srdma_line.h"

namespace flitwise {

/// False, and nothing has changed: it is no frame of UDP over IPv4 with room for a BTH.
bool change_frame(const SrdmaFrameFields& fields, ByteVector& frame);
/// A SEND of 64 bytes that somebody outside makes up, with the tuple and other fields than usual;
/// where it is to look secured, by a key of zeros.
ByteVector made_up_frame(const SrdmaFrameFields& fields, const SessionTuple& tuple,
                         std::uint32_t key_id);

}  // namespace flitwise
