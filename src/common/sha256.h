// SPDX-License-Identifier: Apache-2.0
/// SHA-256 of a text, by OpenSSL.
#pragma once

#include <fmt/format.h>
#include <openssl/sha.h>

#include <array>
#include <string>

namespace flitwise {

/// 64 lower-case hexadecimal digits.
inline std::string sha256_hex(const std::string& text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace flitwise
