// SPDX-License-Identifier: Apache-2.0
// Any TLP as an ATS or PRI message, a Translation Request or a completion for one; and entries and
// ranges of translations, which are read and written as the same.
#include <algorithm>
#include <array>

#include "ats/ats_messages.h"
#include "ats/translation_completion.h"
#include "common/byte_vector.h"
#include "fuzz/fuzz_support.h"
#include "tlp/tlp_check.h"
#include "tlp/tlp_codec.h"

namespace flitwise {
namespace {

constexpr std::uint64_t kPageOffset = 0xfff;

/// The same header and payload, written and read as a TLP.
Tlp through_the_wire(const Tlp& tlp, const ByteVector& payload) {
  ByteVector wire;
  encode(tlp, payload.data(), static_cast<unsigned>(payload.size()), wire);
  const DecodeResult decoded = decode_tlp(wire.data(), wire.size());
  FLITWISE_PROPERTY(!decoded.error);
  FLITWISE_PROPERTY(std::equal(payload.begin(), payload.end(),
                               wire.begin() + static_cast<std::ptrdiff_t>(decoded.payload_offset)));
  return decoded.tlp;
}

void check_range(const PageRange& range) {
  FLITWISE_PROPERTY(range.size_bits >= kSmallestRangeBits && range.size_bits <= kWholeSpaceBits);
  FLITWISE_PROPERTY((range.base & range.offset_mask()) == 0);
}

void check_invalidate_request(const Tlp& tlp, const ByteVector& payload) {
  if (payload.size() < kInvalidateBodyBytes) {
    return;
  }
  const InvalidateRequest request = invalidate_request_of(tlp, payload.data());
  check_range(request.range);
  FLITWISE_PROPERTY(request.itag < kItags);
  FLITWISE_PROPERTY(!request.is_undefined || request.range == PageRange::everything());
  if (request.is_undefined) {
    return;  // a reserved size is nothing to be sent
  }
  ByteVector body(kInvalidateBodyBytes);
  const Tlp written = through_the_wire(invalidate_request_tlp(request, body.data()), body);
  const InvalidateRequest again = invalidate_request_of(written, body.data());
  FLITWISE_PROPERTY(again.agent == request.agent && again.function == request.function);
  FLITWISE_PROPERTY(again.itag == request.itag);
  FLITWISE_PROPERTY(again.range == request.range && again.is_global == request.is_global);
  FLITWISE_PROPERTY(again.pasid == request.pasid);
}

void check_invalidate_completion(const Tlp& tlp) {
  const InvalidateCompletion completion = invalidate_completion_of(tlp);
  FLITWISE_PROPERTY(completion.completion_count >= 1 && completion.completion_count <= 8);
  const Tlp written = through_the_wire(invalidate_completion_tlp(completion), {});
  const InvalidateCompletion again = invalidate_completion_of(written);
  FLITWISE_PROPERTY(again.agent == completion.agent && again.function == completion.function);
  FLITWISE_PROPERTY(again.completion_count == completion.completion_count);
  FLITWISE_PROPERTY(again.itag_vector == completion.itag_vector && again.tc == completion.tc);
}

void check_page_request(const Tlp& tlp) {
  const PageRequest request = page_request_of(tlp);
  const Tlp written = through_the_wire(page_request_tlp(request), {});
  FLITWISE_PROPERTY(written.message_dw2 == tlp.message_dw2);
  FLITWISE_PROPERTY(written.message_dw3 == tlp.message_dw3);
  const PageRequest again = page_request_of(written);
  FLITWISE_PROPERTY(again.function == request.function && again.pasid == request.pasid);
  FLITWISE_PROPERTY(again.privileged == request.privileged && again.execute == request.execute);
  FLITWISE_PROPERTY(again.is_stop_marker() == request.is_stop_marker());
  const PrgResponse response = prg_response_to(request, {}, PrgCode::kResponseFailure, false);
  FLITWISE_PROPERTY(response.pasid == request.pasid && response.prg_index == request.prg_index);
}

void check_prg_response(const Tlp& tlp) {
  const PrgResponse response = prg_response_of(tlp);
  const PrgResponse again = prg_response_of(through_the_wire(prg_response_tlp(response), {}));
  FLITWISE_PROPERTY(again.agent == response.agent && again.function == response.function);
  FLITWISE_PROPERTY(again.prg_index == response.prg_index && again.code == response.code);
  FLITWISE_PROPERTY(again.pasid == response.pasid);
  FLITWISE_PROPERTY((prg_code_of(response.code) == PrgCode::kSuccess) == (response.code == 0));
}

void check_messages(const Tlp& tlp, const ByteVector& payload) {
  check_invalidate_request(tlp, payload);
  check_invalidate_completion(tlp);
  check_page_request(tlp);
  check_prg_response(tlp);
}

void check_entries(const ByteVector& payload) {
  for (std::size_t i = 0; i + kTranslationBytes <= payload.size(); i += kTranslationBytes) {
    const std::uint64_t bits = load_wire_u64(payload.data() + i);
    for (const bool has_pasid : {false, true}) {
      const TranslationEntry entry = decode_entry(bits, has_pasid);
      check_range({entry.translated, entry.size_bits});
      FLITWISE_PROPERTY(!entry.untranslated_only || entry.translated == 0);
      FLITWISE_PROPERTY(entry.has_access() || entry.translated == 0);
      FLITWISE_PROPERTY(decode_entry(encode_entry(entry), has_pasid) == entry ||
                        entry.size_bits == kWholeSpaceBits);
      FLITWISE_PROPERTY(choice_for(entry, AccessKind::kWrite) != AccessChoice::kTranslated ||
                        (entry.write && !entry.untranslated_only));
    }
    const DecodedRange range = decode_range(bits, (bits & 0x800) != 0);
    check_range(range.range);
    const SizeField field = encode_range(range.range);
    FLITWISE_PROPERTY(range.is_undefined ||
                      (field.address == (bits & ~kPageOffset) && field.s == ((bits & 0x800) != 0)));
  }
}

/// The agent's answer to a request that it serves, taken in by the function.
void check_reply(const Tlp& request, const ByteVector& payload, unsigned rcb, unsigned stu) {
  std::array<TranslationEntry, kMaxTranslations> found{};
  const auto count = static_cast<unsigned>(
      std::min<std::size_t>(translations_of(request), payload.size() / kTranslationBytes));
  for (unsigned i = 0; i < count; ++i) {
    found[i] = decode_entry(load_wire_u64(payload.data() + std::size_t{8} * i), request.has_pasid);
  }
  if (count == 0 || found[0].size_bits < stu_bits(stu) || found[0].size_bits > 52) {
    return;
  }
  const unsigned length = reply_length(found.data(), count, request, stu);
  FLITWISE_PROPERTY(length >= 1 && length <= count);
  ByteVector reply(std::size_t{length} * kTranslationBytes);
  store_reply(reply.data(), found.data(), length);
  TranslationReceiver receiver(request, request.has_pasid, rcb, stu);
  TranslationReply pieces(length, rcb, length / 2);
  CompletionPiece piece;
  TranslationVerdict verdict = TranslationVerdict::kPartial;
  while (pieces.next(piece)) {
    FLITWISE_PROPERTY(verdict == TranslationVerdict::kPartial);
    const Tlp completion = translation_cpld(request, piece);
    verdict = receiver.check(completion, reply.data() + piece.offset);
    FLITWISE_PROPERTY(verdict <= TranslationVerdict::kLast);
    receiver.accept(completion, reply.data() + piece.offset);
  }
  FLITWISE_PROPERTY(verdict == TranslationVerdict::kLast && receiver.count() == length);
}

void check_translation_request(const Tlp& tlp, const ByteVector& payload) {
  const unsigned rcb = tlp.tag % 2 == 0 ? 64 : 128, stu = tlp.tc;
  const bool is_served = tlp.type == TlpType::kMRd && check_format(tlp) == std::nullopt &&
                         is_legal_translation_request(tlp, rcb);
  if (is_served && (tlp.address & kPageOffset) == 0) {
    check_reply(tlp, payload, rcb, stu);
  }
}

void check(const ByteVector& bytes) {
  DecodeResult decoded = decode_tlp(bytes.data(), bytes.size());
  const std::size_t offset = std::min(decoded.payload_offset, bytes.size());
  const ByteVector payload(bytes.begin() + static_cast<std::ptrdiff_t>(offset), bytes.end());
  check_messages(decoded.tlp, payload);
  check_entries(payload);
  check_translation_request(decoded.tlp, payload);
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  flitwise::check(flitwise::fuzz::bytes_of_input(data, size));
  return 0;
}
