// SPDX-License-Identifier: Apache-2.0
// Any completions for a Translation Request and any Invalidate Request are told apart without a
// fault; what is taken keeps to the request, and what is cached is found and goes again.
#include <algorithm>
#include <array>

#include "ats/function_atc.h"
#include "fuzz/fuzz_support.h"

namespace flitwise {
namespace {

constexpr unsigned kRcb = 64, kPayloadBytes = 128;

using fuzz::Input;

Tlp completion_from(Input& input, std::array<std::uint8_t, kPayloadBytes>& payload) {
  const std::uint64_t kind = input.take(1);
  Tlp completion;
  completion.type = (kind & 1) != 0 ? TlpType::kCplD : TlpType::kCpl;
  completion.is_poisoned = (kind & 2) != 0;
  completion.status = static_cast<CplStatus>(kind >> 2 & 7 & (kind >> 5));
  completion.length_dw =
      static_cast<std::uint16_t>(std::min<std::uint64_t>(input.take(1), kPayloadBytes / 4));
  completion.byte_count = static_cast<std::uint16_t>(input.take(1));
  completion.lower_address = static_cast<std::uint8_t>(input.take(1) & 0x7f);
  for (unsigned i = 0; i < completion.length_dw * 4U; ++i) {
    payload[i] = static_cast<std::uint8_t>(input.take(1));
  }
  return completion;
}

void check_reply(const TranslationReceiver& reply, const AddressSpan& implied, unsigned stu) {
  for (unsigned i = 0; i < reply.count(); ++i) {
    FLITWISE_PROPERTY(implied.overlaps(reply.range(i)));
    FLITWISE_PROPERTY(reply.range(i).size_bits >= stu_bits(stu));
    FLITWISE_PROPERTY(i == 0 || reply.range(i).base == reply.range(i - 1).last() + 1);
    const TranslationEntry entry = reply.entry(i);
    FLITWISE_PROPERTY(decode_entry(encode_entry(entry), true) == entry);
  }
}

void invalidate(FunctionAtc& atc, Input& input) {
  std::array<std::uint8_t, kInvalidateBodyBytes> body{};
  store_wire_u64(body.data(), input.take(8));
  Tlp tlp;
  tlp.type = TlpType::kMsgD;
  tlp.tag = static_cast<std::uint16_t>(input.take(1));
  const InvalidateRequest request = invalidate_request_of(tlp, body.data());
  FLITWISE_PROPERTY((request.range.base & request.range.offset_mask()) == 0);
  if (atc.invalidations.check(request) == InvalidateVerdict::kAccept) {
    atc.invalidations.accept(request);
    FLITWISE_PROPERTY(!atc.cache.find(request.range.base, {}));
    FLITWISE_PROPERTY(!atc.cache.find(request.range.last(), {}));
  }
}

void check(Input input) {
  TranslationSettings settings;
  settings.is_enabled = true;
  settings.stu = static_cast<std::uint8_t>(input.take(1) % 32);
  FunctionAtcConfig config;
  config.cache.entries = 8;
  FunctionAtc atc(config);
  atc.set_control(true, settings.stu);
  while (!input.is_empty()) {
    TranslationAsk ask;
    ask.translations = static_cast<unsigned>(1 + input.take(1) % 8);
    ask.address = input.take(8) & ~std::uint64_t{0xfff};
    const Tlp request = translation_request_tlp(ask, settings, {});
    const AddressSpan implied = implied_span(ask.address, ask.translations, settings.stu);
    const Slot slot = atc.requests.open(ask, settings.stu);
    TranslationReceiver reply(request, request.has_pasid, kRcb, settings.stu);
    TranslationVerdict verdict = TranslationVerdict::kPartial;
    while (verdict == TranslationVerdict::kPartial) {
      if ((input.take(1) & 1) != 0) {
        invalidate(atc, input);
      }
      std::array<std::uint8_t, kPayloadBytes> payload{};
      const Tlp completion = completion_from(input, payload);
      verdict = reply.check(completion, payload.data());
      if (verdict <= TranslationVerdict::kLast) {
        reply.accept(completion, payload.data());
        check_reply(reply, implied, settings.stu);
      }
    }
    atc.end_request(slot, verdict, reply);
    FLITWISE_PROPERTY(atc.cache.size() <= atc.cache.capacity());
  }
  atc.cache.invalidate(PageRange::everything(), {});
  FLITWISE_PROPERTY(atc.cache.size() == 0);
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  flitwise::check(flitwise::fuzz::Input(flitwise::fuzz::bytes_of_input(data, size)));
  return 0;
}
