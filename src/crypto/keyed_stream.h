// SPDX-License-Identifier: Apache-2.0
/// Random numbers of which nobody can reckon the next one from those before it: the key stream of
/// AES-256 in counter mode, keyed by the seed of the run. [SEL-8]
#pragma once

#include <openssl/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace flitwise {

/// The same seed and name give the same numbers. Streams of other names are independent. A number
/// costs about as much as one of Random; the cipher runs once for 32 of them.
class KeyedStream {
 public:
  /// The key is SHA-256 of seed and name, such as "port/3".
  KeyedStream(std::uint64_t seed, std::string_view name);

  /// All 64 bits random.
  std::uint64_t next();
  /// Uniform in 0..bound-1 without bias. REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound);
  void fill(std::uint8_t* bytes, std::size_t count);

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const;
  };
  void refill();

  std::unique_ptr<EVP_CIPHER_CTX, Free> cipher_;
  std::array<std::uint8_t, 256> block_{};
  std::size_t used_ = sizeof(block_);
};

}  // namespace flitwise
