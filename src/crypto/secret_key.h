// SPDX-License-Identifier: Apache-2.0
/// Keys that two ends share: agreed on by X25519, and derived from one another by HKDF-SHA256
/// (RFC 5869).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "common/byte_vector.h"
#include "crypto/keyed_stream.h"

namespace flitwise {

inline constexpr std::size_t kKeyBytes = 32;
using SecretKey = std::array<std::uint8_t, kKeyBytes>;
/// What an end lets the other one see of its half. [HS-1]
using KeyShare = std::array<std::uint8_t, kKeyBytes>;

/// Another key for each label and context; it does not tell the one that it comes from. Two
/// HMAC-SHA256.
SecretKey derive_key(const SecretKey& from, std::string_view label, const ByteVector& context = {});

/// A context of words, one behind the other, each with its highest byte first.
ByteVector context_of(std::initializer_list<std::uint32_t> words);

/// One end's half of an agreement. Either call costs some 50 us of computing.
class KeyAgreement {
 public:
  explicit KeyAgreement(KeyedStream& random);
  const KeyShare& share() const { return share_; }
  /// The same at both ends. None: the peer's share is no point that a key can be made of.
  std::optional<SecretKey> agree(const KeyShare& peer) const;

 private:
  SecretKey own_{};
  KeyShare share_{};
};

}  // namespace flitwise
