// SPDX-License-Identifier: Apache-2.0
/// AES-256-GCM in place, by OpenSSL. [KY-5]
#pragma once

#include <openssl/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "crypto/secret_key.h"

namespace flitwise {

inline constexpr std::size_t kGcmTagBytes = 16;
using GcmNonce = std::array<std::uint8_t, 12>;

/// Where the parts of a message lie. The tag follows the text.
struct GcmText {
  const std::uint8_t* header;  ///< is authenticated, and stays in clear
  std::size_t header_bytes;
  std::uint8_t* text;  ///< text_bytes, and kGcmTagBytes behind them
  std::size_t text_bytes;
};

/// One context for all keys; a change of key costs a key schedule, and nothing is allocated.
class AesGcm {
 public:
  AesGcm();
  /// Encrypts the text and writes the tag. REQUIRES: a nonce that the key has never seen.
  void seal(const SecretKey& key, const GcmNonce& nonce, const GcmText& text);
  /// Decrypts the text. False: the tag is wrong, and the text is worth nothing.
  bool open(const SecretKey& key, const GcmNonce& nonce, const GcmText& text);

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const;
  };
  std::unique_ptr<EVP_CIPHER_CTX, Free> cipher_;
};

}  // namespace flitwise
