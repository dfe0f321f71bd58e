// SPDX-License-Identifier: Apache-2.0
// What a hostile device sends: any bytes become a packet whose size on the wire and whose charge
// follow from the bytes.
#include <algorithm>

#include "fuzz/fuzz_support.h"
#include "tlp/tlp_check.h"
#include "tlp/tlp_codec.h"

namespace flitwise {
namespace {

constexpr std::size_t kLeastTlpBytes = 12;
constexpr std::size_t kLinkBytes = 8;  // framing and LCRC

void check(const std::vector<std::uint8_t>& bytes) {
  static PacketPool pool;
  const PacketRef packet = pool.make(PacketKind::kTlp);
  write_raw(*packet, bytes.data(), bytes.size());
  const std::size_t on_wire = (std::max(bytes.size(), kLeastTlpBytes) + 3) / 4 * 4 + kLinkBytes;
  FLITWISE_PROPERTY(packet->size.total() == 8 * on_wire);
  FLITWISE_PROPERTY(data_bytes(packet->tlp) <= bytes.size() + 3);
  if (packet->malformed) {
    FLITWISE_PROPERTY(*name_of(*packet->malformed) != '\0');
    return;
  }
  FLITWISE_PROPERTY(tlp_bytes(packet->tlp) == bytes.size());
  FLITWISE_PROPERTY(packet->payload.size() == data_bytes(packet->tlp));
  FLITWISE_PROPERTY(packet->payload_bytes <= packet->payload.size());
  const std::optional<TlpViolation> violation = check_format(packet->tlp);
  FLITWISE_PROPERTY(!violation || !is_malformed(*violation));
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size <= flitwise::kMostTlpBytes) {
    flitwise::check(flitwise::fuzz::bytes_of_input(data, size));
  }
  return 0;
}
