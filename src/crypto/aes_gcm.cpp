// SPDX-License-Identifier: Apache-2.0
#include "crypto/aes_gcm.h"

#include <openssl/evp.h>

#include "flitwise/error.h"

namespace flitwise {

AesGcm::AesGcm() : cipher_(EVP_CIPHER_CTX_new()) {
  FLITWISE_CHECK(
      EVP_CipherInit_ex(cipher_.get(), EVP_aes_256_gcm(), nullptr, nullptr, nullptr, 1) == 1,
      "AES-256-GCM of OpenSSL");
}

void AesGcm::Free::operator()(EVP_CIPHER_CTX* context) const {
  EVP_CIPHER_CTX_free(context);
}

void AesGcm::seal(const SecretKey& key, const GcmNonce& nonce, const GcmText& text) {
  EVP_CIPHER_CTX* const cipher = cipher_.get();
  int bytes = 0;
  const bool is_sealed =
      EVP_EncryptInit_ex(cipher, nullptr, nullptr, key.data(), nonce.data()) == 1 &&
      EVP_EncryptUpdate(cipher, nullptr, &bytes, text.header,
                        static_cast<int>(text.header_bytes)) == 1 &&
      EVP_EncryptUpdate(cipher, text.text, &bytes, text.text, static_cast<int>(text.text_bytes)) ==
          1 &&
      EVP_EncryptFinal_ex(cipher, text.text + text.text_bytes, &bytes) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, static_cast<int>(kGcmTagBytes),
                          text.text + text.text_bytes) == 1;
  FLITWISE_CHECK(is_sealed, "AES-256-GCM of OpenSSL");
}

bool AesGcm::open(const SecretKey& key, const GcmNonce& nonce, const GcmText& text) {
  EVP_CIPHER_CTX* const cipher = cipher_.get();
  int bytes = 0;
  std::array<std::uint8_t, 16> rest{};
  return EVP_DecryptInit_ex(cipher, nullptr, nullptr, key.data(), nonce.data()) == 1 &&
         EVP_DecryptUpdate(cipher, nullptr, &bytes, text.header,
                           static_cast<int>(text.header_bytes)) == 1 &&
         EVP_DecryptUpdate(cipher, text.text, &bytes, text.text,
                           static_cast<int>(text.text_bytes)) == 1 &&
         EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, static_cast<int>(kGcmTagBytes),
                             text.text + text.text_bytes) == 1 &&
         EVP_DecryptFinal_ex(cipher, rest.data(), &bytes) == 1;
}

}  // namespace flitwise
