// SPDX-License-Identifier: Apache-2.0
/// SHA-256 of a text.
#pragma once

#include <string>

namespace flitwise {

/// 64 lower-case hexadecimal digits.
std::string sha256_hex(const std::string& text);

}  // namespace flitwise
