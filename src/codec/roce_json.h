// SPDX-License-Identifier: Apache-2.0
/// RoCEv2 frames as JSON: an object a header. docs/formats/roce_json.md shows every key.
#pragma once

#include "codec/json_value.h"
#include "codec/packet_json.h"
#include "common/byte_vector.h"
#include "network/roce_opcodes.h"

namespace flitwise {

/// `checks`: a frame that breaks a rule of its fields is none. A wrong ICRC is told by icrc_ok.
/// [ROCE-5]
PacketRead read_roce_frame(const ByteVector& bytes, bool checks,
                           const RoceExtensions& extensions = {});

/// Lengths, pad count, checksums and ICRC are worked out where they are not given; a key
/// "bth.psn" is the key psn of bth. An echo, a bitmap and `place` make an extended frame [ROCE-8].
/// Throws ConfigError with what is wrong, with the bytes as well unless `check` is false.
ByteVector roce_from_json(const Json& object, const JsonSource& source);

}  // namespace flitwise
