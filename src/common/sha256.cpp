// SPDX-License-Identifier: Apache-2.0
// SHA-256 by OpenSSL.
#include "common/sha256.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <array>

namespace flitwise {

std::string sha256_hex(const std::string& text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::string hex;
  for (const unsigned char byte : digest) {
    hex += fmt::format("{:02x}", byte);
  }
  return hex;
}

}  // namespace flitwise
