// SPDX-License-Identifier: Apache-2.0
// From TLPs to walks, and back to entries.
#include "iommu/tlp_request.h"

#include "tlp/header_layout.h"
#include "tlp/splitter.h"

namespace flitwise {
namespace {

WalkKind kind_of(AddressType at) {
  return at == AddressType::kTranslationRequest ? WalkKind::kTranslationRequest
         : at == AddressType::kTranslated       ? WalkKind::kTranslated
                                                : WalkKind::kUntranslated;
}

}  // namespace

WalkRequest walk_request_of(const Tlp& tlp, const DeviceIdentity& identity) {
  WalkRequest request;
  request.source = identity.bdf;
  request.pasid = identity.pasid;
  request.address = tlp.address;
  request.kind = kind_of(tlp.at);
  const bool is_translation = request.kind == WalkKind::kTranslationRequest;
  request.wish.read = tlp.type == TlpType::kMRd;
  request.wish.write =
      is_translation ? (tlp.processing_hint >> kNoWriteBit & 1U) == 0 : tlp.type == TlpType::kMWr;
  request.wish.execute = identity.pasid.has_value() && identity.execute_requested;
  request.wish.privileged = identity.pasid.has_value() && identity.privileged_mode_requested;
  request.wish.zero_length = is_zero_length_read(tlp);
  return request;
}

TranslationEntry translation_entry_of(const WalkResult& result, bool has_pasid, unsigned stu) {
  if (result.page_bits < stu_bits(stu)) {
    return no_access_entry(stu);
  }
  TranslationEntry entry;
  entry.size_bits = result.page_bits;
  entry.translated = result.address & ~((std::uint64_t{1} << result.page_bits) - 1);
  entry.read = result.read;
  entry.write = result.write;
  entry.execute = has_pasid && result.execute;
  entry.privileged = has_pasid && result.is_privileged;
  return entry;
}

}  // namespace flitwise
