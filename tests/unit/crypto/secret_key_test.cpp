// SPDX-License-Identifier: Apache-2.0
#include "crypto/secret_key.h"

#include <gtest/gtest.h>

#include "crypto/aes_gcm.h"

namespace flitwise::secret_key_test {
namespace {

TEST(KeyAgreement, HS_1_BothEndsMakeTheSameKeyOfTheirShares) {
  KeyedStream random(1, "key");
  const KeyAgreement one(random), other(random);
  EXPECT_NE(one.share(), other.share());
  const auto key = one.agree(other.share());
  ASSERT_TRUE(key);
  EXPECT_EQ(key, other.agree(one.share()));
  const KeyAgreement third(random);
  EXPECT_NE(key, third.agree(one.share()));
}

TEST(KeyAgreement, HS_4_AShareOfZerosMakesNoKey) {
  KeyedStream random(1, "key");
  EXPECT_FALSE(KeyAgreement(random).agree(KeyShare{}));
}

TEST(DeriveKey, LabelsAndContextsMakeOtherKeys) {
  const SecretKey from{1};
  EXPECT_EQ(derive_key(from, "a", {1}), derive_key(from, "a", {1}));
  EXPECT_NE(derive_key(from, "a", {1}), derive_key(from, "b", {1}));
  EXPECT_NE(derive_key(from, "a", {1}), derive_key(from, "a", {2}));
  EXPECT_NE(derive_key(from, "a", {1}), derive_key(SecretKey{2}, "a", {1}));
}

// openssl kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt hexkey:(32 times 0b) -kdfopt info:flitwise
// -kdfopt salt: HKDF
TEST(DeriveKey, IsHkdfWithSha256) {
  SecretKey from;
  from.fill(0x0b);
  const SecretKey expected = {0x50, 0xd3, 0x10, 0x19, 0xdb, 0x43, 0xf2, 0x1d, 0x1a, 0xa1, 0x5b,
                              0x72, 0x2b, 0xfc, 0xd3, 0xaa, 0x8d, 0x08, 0xae, 0x3c, 0xd2, 0x39,
                              0x23, 0xa9, 0x7e, 0xfa, 0x24, 0x23, 0x59, 0x77, 0x80, 0xee};
  EXPECT_EQ(derive_key(from, "flitwise"), expected);
}

// GCM specification of McGrew and Viega, test case 16.
TEST(AesGcm, KY_5_IsAes256Gcm) {
  const SecretKey key = {0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c, 0x6d, 0x6a, 0x8f,
                         0x94, 0x67, 0x30, 0x83, 0x08, 0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65,
                         0x73, 0x1c, 0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08};
  const GcmNonce nonce = {0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce, 0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88};
  const ByteVector header = {0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xfe, 0xed,
                             0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xab, 0xad, 0xda, 0xd2};
  const ByteVector plain = {0xd9, 0x31, 0x32, 0x25, 0xf8, 0x84, 0x06, 0xe5, 0xa5, 0x59, 0x09, 0xc5,
                            0xaf, 0xf5, 0x26, 0x9a, 0x86, 0xa7, 0xa9, 0x53, 0x15, 0x34, 0xf7, 0xda,
                            0x2e, 0x4c, 0x30, 0x3d, 0x8a, 0x31, 0x8a, 0x72, 0x1c, 0x3c, 0x0c, 0x95,
                            0x95, 0x68, 0x09, 0x53, 0x2f, 0xcf, 0x0e, 0x24, 0x49, 0xa6, 0xb5, 0x25,
                            0xb1, 0x6a, 0xed, 0xf5, 0xaa, 0x0d, 0xe6, 0x57, 0xba, 0x63, 0x7b, 0x39};
  const ByteVector tag = {0x76, 0xfc, 0x6e, 0xce, 0x0f, 0x4e, 0x17, 0x68,
                          0xcd, 0xdf, 0x88, 0x53, 0xbb, 0x2d, 0x55, 0x1b};
  ByteVector bytes = plain;
  bytes.resize(plain.size() + kGcmTagBytes);
  const GcmText text{header.data(), header.size(), bytes.data(), plain.size()};
  AesGcm cipher;
  cipher.seal(key, nonce, text);
  EXPECT_EQ(bytes[0], 0x52);
  EXPECT_EQ(bytes[59], 0x62);
  EXPECT_TRUE(std::equal(tag.begin(), tag.end(), bytes.end() - 16));

  const ByteVector sealed = bytes;
  EXPECT_TRUE(cipher.open(key, nonce, text));
  EXPECT_TRUE(std::equal(plain.begin(), plain.end(), bytes.begin()));
  for (std::size_t byte = 0; byte < sealed.size(); ++byte) {
    bytes = sealed;
    bytes[byte] ^= 1;
    EXPECT_FALSE(
        cipher.open(key, nonce, {header.data(), header.size(), bytes.data(), plain.size()}))
        << byte;
  }
  bytes = sealed;
  EXPECT_TRUE(cipher.open(key, nonce, {header.data(), header.size(), bytes.data(), plain.size()}));
}

}  // namespace
}  // namespace flitwise::secret_key_test
