// SPDX-License-Identifier: Apache-2.0
// The first byte chooses a form of identity, the rest is a TLP from anybody: the host finds a
// handle, or the identity in full.
#include "tlp/identity.h"

#include "fuzz/fuzz_support.h"
#include "tlp/tlp_codec.h"

namespace flitwise {
namespace {

IdentityForm form_of(std::uint8_t choice) {
  IdentityForm form;
  constexpr unsigned kForms = 5;
  form.identity = (choice & 1U) != 0 ? Identity::kDhi : Identity::kBdfPasid;
  form.dhi_form = static_cast<DhiForm>((choice >> 1) % kForms);
  form.handle_bits = 2U + (choice >> 4) % 11U;
  return form;
}

void check(const Tlp& tlp, const IdentityForm& form) {
  const WireIdentity identity = identity_of(tlp, form);
  const auto handle = handle_of(tlp, form);
  FLITWISE_PROPERTY(identity.handle.has_value() == handle.has_value());
  if (handle) {
    FLITWISE_PROPERTY(identity.handle == handle);
  }
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flitwise;
  if (size == 0) {
    return 0;
  }
  const IdentityForm form = form_of(data[0]);
  const std::vector<std::uint8_t> bytes = fuzz::bytes_of_input(data + 1, size - 1);
  const DecodeResult decoded = decode_tlp(bytes.data(), bytes.size());
  if (!decoded.error && refusal_of(form) == nullptr) {
    check(decoded.tlp, form);
  }
  return 0;
}
