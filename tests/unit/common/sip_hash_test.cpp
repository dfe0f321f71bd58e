// SPDX-License-Identifier: Apache-2.0
// SipHash-2-4 against its authors' vector and against OpenSSL.
#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>

#include <array>
#include <cstring>
#include <memory>

#include "common/random.h"
#include "common/sip_hash.h"

namespace flitwise::sip_hash_test {
namespace {

TEST(SipHash, TheVectorOfItsAuthors) {
  // Key 00 01 ... 0f, message 00 01 ... 0f.
  const SipKey key{0x0706'0504'0302'0100U, 0x0f0e'0d0c'0b0a'0908U};
  EXPECT_EQ(sip_hash(key, key.low, key.high), 0x3f2a'cc7f'57c2'9bdbU);
}

std::uint64_t by_openssl(SipKey key, std::uint64_t first, std::uint64_t second) {
  std::array<unsigned char, 16> secret{}, message{};
  std::memcpy(secret.data(), &key.low, 8);
  std::memcpy(secret.data() + 8, &key.high, 8);
  std::memcpy(message.data(), &first, 8);
  std::memcpy(message.data() + 8, &second, 8);
  const std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> mac(
      EVP_MAC_fetch(nullptr, "SIPHASH", nullptr), EVP_MAC_free);
  const std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context(
      EVP_MAC_CTX_new(mac.get()), EVP_MAC_CTX_free);
  std::size_t bytes = 8;
  const std::array<OSSL_PARAM, 2> parameters = {
      OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &bytes), OSSL_PARAM_construct_end()};
  std::uint64_t result = 0;
  EXPECT_EQ(EVP_MAC_init(context.get(), secret.data(), secret.size(), parameters.data()), 1);
  EXPECT_EQ(EVP_MAC_update(context.get(), message.data(), message.size()), 1);
  EXPECT_EQ(EVP_MAC_final(context.get(), reinterpret_cast<unsigned char*>(&result), &bytes,
                          sizeof result),
            1);
  return result;
}

TEST(SipHash, AsOpenSslHasIt) {
  Random random(20);
  for (int i = 0; i < 100; ++i) {
    const SipKey key{random.next(), random.next()};
    const std::uint64_t first = random.next(), second = random.next();
    ASSERT_EQ(sip_hash(key, first, second), by_openssl(key, first, second));
  }
}

}  // namespace
}  // namespace flitwise::sip_hash_test
