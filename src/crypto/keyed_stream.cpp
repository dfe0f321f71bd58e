// SPDX-License-Identifier: Apache-2.0
#include "crypto/keyed_stream.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <string>

#include "common/random.h"
#include "flitwise/error.h"

namespace flitwise {

KeyedStream::KeyedStream(std::uint64_t seed, std::string_view name)
    : cipher_(EVP_CIPHER_CTX_new()) {
  std::string text(sizeof seed, '\0');
  boost::endian::store_big_u64(reinterpret_cast<unsigned char*>(text.data()), seed);
  text += name;
  std::array<unsigned char, SHA256_DIGEST_LENGTH> key{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), key.data());
  const std::array<unsigned char, 16> counter{};
  FLITWISE_CHECK(EVP_EncryptInit_ex(cipher_.get(), EVP_aes_256_ctr(), nullptr, key.data(),
                                    counter.data()) == 1,
                 "AES-256-CTR of OpenSSL");
}

void KeyedStream::Free::operator()(EVP_CIPHER_CTX* context) const {
  EVP_CIPHER_CTX_free(context);
}

void KeyedStream::refill() {
  constexpr std::array<std::uint8_t, sizeof block_> kZeros{};
  int bytes = 0;
  FLITWISE_CHECK(EVP_EncryptUpdate(cipher_.get(), block_.data(), &bytes, kZeros.data(),
                                   static_cast<int>(kZeros.size())) == 1,
                 "AES-256-CTR of OpenSSL");
  used_ = 0;
}

std::uint64_t KeyedStream::next() {
  std::array<std::uint8_t, sizeof(std::uint64_t)> bytes{};
  fill(bytes.data(), bytes.size());
  return boost::endian::load_big_u64(bytes.data());
}

std::uint64_t KeyedStream::below(std::uint64_t bound) {
  WideProduct product = multiply_wide(next(), bound);
  const std::uint64_t biased = (0 - bound) % bound;
  while (product.low < biased) {
    product = multiply_wide(next(), bound);
  }
  return product.high;
}

void KeyedStream::fill(std::uint8_t* bytes, std::size_t count) {
  while (count > 0) {
    if (used_ == block_.size()) {
      refill();
    }
    const std::size_t some = std::min(count, block_.size() - used_);
    std::copy_n(block_.begin() + static_cast<std::ptrdiff_t>(used_), some, bytes);
    used_ += some;
    bytes += some;
    count -= some;
  }
}

}  // namespace flitwise
