// SPDX-License-Identifier: Apache-2.0
/// Bytes in the order of the wire, as codecs read and write them.
#pragma once

#include <cstdint>
#include <vector>

namespace flitwise {

using ByteVector = std::vector<std::uint8_t>;

}  // namespace flitwise
