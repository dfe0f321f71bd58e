// SPDX-License-Identifier: Apache-2.0
// Bytes as a control message, and as a frame for an end of session groups: a message makes its
// bytes again, and what is no frame of a session reaches no queue pair.
#include "fuzz/fuzz_support.h"
#include "srdma/srdma_end.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flitwise;
  const CmRead read = read_cm(data, size);
  if (read.flaw.empty()) {
    FLITWISE_PROPERTY(bytes_of(read.message) == ByteVector(data, data + size));
  }
  for (const bool is_plain : {true, false}) {
    SrdmaEndSetup setup;
    setup.address = 0x0a000002;
    setup.channel.is_plain = is_plain;
    SrdmaEnd end(setup);
    end.manager().listen(
        0, [](std::uint32_t /*peer*/, const std::vector<CmPair>& asked, std::vector<CmPair>& own) {
          for (const CmPair& pair : asked) {
            own.push_back({pair.number, 0});
          }
          return CmReason::kNone;
        });
    if (is_plain && read.flaw.empty()) {
      end.manager().receive(read.message, 0x0a000001, Time::from_us(1));
      end.tick(Time::from_us(20'000));
    }
    ByteVector frame(data, data + size);
    const ReceivedFrame received = end.receive(frame, Time::from_us(20'001));
    FLITWISE_PROPERTY(received.outcome != ReceiveCounter::kData || is_plain);
  }
  return 0;
}
