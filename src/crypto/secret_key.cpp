// SPDX-License-Identifier: Apache-2.0
#include "crypto/secret_key.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <algorithm>

#include <memory>

#include "flitwise/error.h"

namespace flitwise {
namespace {

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
};
using OwnedKey = std::unique_ptr<EVP_PKEY, FreeKey>;

SecretKey hmac(const SecretKey& key, const std::uint8_t* bytes, std::size_t count) {
  SecretKey digest{};
  unsigned size = 0;
  FLITWISE_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, count,
                      digest.data(), &size) != nullptr &&
                     size == digest.size(),
                 "HMAC-SHA256 of OpenSSL");
  return digest;
}

}  // namespace

// Extract with a salt of zeros, and the first block of expand. (RFC 5869)
ByteVector context_of(std::initializer_list<std::uint32_t> words) {
  ByteVector context(4 * words.size());
  auto at = context.begin();
  for (const std::uint32_t word : words) {
    const std::array<std::uint8_t, 4> bytes = bytes_of(word);
    at = std::copy(bytes.begin(), bytes.end(), at);
  }
  return context;
}

SecretKey derive_key(const SecretKey& from, std::string_view label, const ByteVector& context) {
  const SecretKey extracted = hmac(SecretKey{}, from.data(), from.size());
  ByteVector info(label.begin(), label.end());
  info.insert(info.end(), context.begin(), context.end());
  info.push_back(1);
  return hmac(extracted, info.data(), info.size());
}

KeyAgreement::KeyAgreement(KeyedStream& random) {
  random.fill(own_.data(), own_.size());
  const OwnedKey own(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, own_.data(), own_.size()));
  std::size_t size = share_.size();
  FLITWISE_CHECK(own && EVP_PKEY_get_raw_public_key(own.get(), share_.data(), &size) == 1,
                 "X25519 of OpenSSL");
}

std::optional<SecretKey> KeyAgreement::agree(const KeyShare& peer) const {
  const OwnedKey own(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, own_.data(), own_.size()));
  const OwnedKey other(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, peer.data(), peer.size()));
  const std::unique_ptr<EVP_PKEY_CTX, FreeKey> context(EVP_PKEY_CTX_new(own.get(), nullptr));
  SecretKey secret{};
  std::size_t size = secret.size();
  const bool is_made = other && context && EVP_PKEY_derive_init(context.get()) == 1 &&
                       EVP_PKEY_derive_set_peer(context.get(), other.get()) == 1 &&
                       EVP_PKEY_derive(context.get(), secret.data(), &size) == 1;
  return is_made ? std::optional(secret) : std::nullopt;
}

}  // namespace flitwise
