// SPDX-License-Identifier: Apache-2.0
// Bytes as entries of the rings of an RDMA adapter: what is read of an entry is written into it
// again, and a doorbell keeps its bits.
#include "rdma/ring_entries.h"

#include <algorithm>
#include <utility>

#include "common/byte_vector.h"
#include "fuzz/fuzz_support.h"

namespace flitwise {
namespace {

// Bytes that an entry leaves open come back as zeros.
void check_entries(const std::uint8_t* bytes) {
  if (const auto work = decode_send(bytes)) {
    const SendEntry entry = encode(*work);
    const auto again = decode_send(entry.data());
    FLITWISE_PROPERTY(again && encode(*again) == entry);
    for (const auto& [first, last] : {std::pair(0, 9), {12, 44}, {48, 64}}) {
      FLITWISE_PROPERTY(std::equal(entry.begin() + first, entry.begin() + last, bytes + first));
    }
  } else {
    FLITWISE_PROPERTY(bytes[8] >= kWorkOpcodes);
  }
  const ReceiveEntry buffer = encode(decode_receive(bytes));
  FLITWISE_PROPERTY(std::equal(buffer.begin(), buffer.begin() + 24, bytes));
  const bool phase = phase_of(little_endian(bytes + kPhaseAt, 8));
  const CompletionEntry completion = encode(decode_completion(bytes), phase);
  for (const auto& [first, last] : {std::pair(0, 14), {16, 28}}) {
    FLITWISE_PROPERTY(
        std::equal(completion.begin() + first, completion.begin() + last, bytes + first));
  }
  FLITWISE_PROPERTY((completion[15] >> 7) == (bytes[15] >> 7));
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flitwise;
  std::vector<std::uint8_t> bytes = fuzz::bytes_of_input(data, size);
  bytes.resize(kWqeBytes);
  check_entries(bytes.data());
  const std::uint64_t word = little_endian(bytes.data(), 8);
  const std::uint64_t kept = 0xffff'ffff'80ff'ffff;  // the rest is reserved
  FLITWISE_PROPERTY(Doorbell::decode(word).encode() == (word & kept));
  return 0;
}
