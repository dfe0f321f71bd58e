// SPDX-License-Identifier: Apache-2.0
// The bytes of a TLP as a DHI message, as they are and with the codes that make one; a message that
// was read can be written, and reads back as the same header and payload.
#include <algorithm>

#include "common/byte_vector.h"
#include "dhi/dhi_message.h"
#include "fuzz/fuzz_support.h"
#include "tlp/tlp_codec.h"

namespace flitwise {
namespace {

void check_message(const Tlp& tlp, const ByteVector& payload) {
  const DhiMessage message = parse_dhi_message(tlp, payload.data(), payload.size());
  Tlp written;
  ByteVector written_payload;
  const Bdf destination{static_cast<std::uint16_t>(tlp.message_dw2 >> 16)};
  if (const auto* const error = std::get_if<DhiMessageError>(&message)) {
    FLITWISE_PROPERTY(*name_of(*error) != '?');
    return;
  }
  if (const auto* const order = std::get_if<DeallocOrder>(&message)) {
    FLITWISE_PROPERTY(order->tag < kDeallocOrders);
  }
  write_dhi_message(written, written_payload, tlp.requester_id, message, destination);
  FLITWISE_PROPERTY(written.type == tlp.type && written.routing == tlp.routing);
  FLITWISE_PROPERTY(written.message_dw2 == tlp.message_dw2);
  FLITWISE_PROPERTY(written.message_dw3 == tlp.message_dw3);
  FLITWISE_PROPERTY(written_payload == payload);
  const DhiMessage again =
      parse_dhi_message(written, written_payload.data(), written_payload.size());
  FLITWISE_PROPERTY(again.index() == message.index());
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flitwise;
  const std::vector<std::uint8_t> bytes = fuzz::bytes_of_input(data, size);
  DecodeResult decoded = decode_tlp(bytes.data(), bytes.size());
  const std::size_t offset = std::min(decoded.payload_offset, bytes.size());
  const std::vector<std::uint8_t> payload(bytes.begin() + static_cast<std::ptrdiff_t>(offset),
                                          bytes.end());
  check_message(decoded.tlp, payload);
  decoded.tlp.type = payload.empty() ? TlpType::kMsg : TlpType::kMsgD;
  decoded.tlp.message_code = msg::kVendorType1;
  decoded.tlp.message_dw2 = (decoded.tlp.message_dw2 & 0xffff0000U) | kHandleVendorId;
  check_message(decoded.tlp, payload);
  return 0;
}
