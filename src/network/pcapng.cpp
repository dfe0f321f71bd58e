// SPDX-License-Identifier: Apache-2.0
#include "network/pcapng.h"

#include <fmt/format.h>

#include <algorithm>

namespace flitwise {
namespace {

enum BlockType : std::uint32_t {
  kSectionBlock = 0x0a0d0d0a,
  kInterfaceBlock = 1,
  kPacketBlock = 6,  // "enhanced packet"
};
constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr unsigned kMajorVersion = 1, kMinorVersion = 0;
constexpr std::uint64_t kOpenLength = ~std::uint64_t{0};  // of a section
constexpr std::uint32_t kNoLimit = 0;                     // of bytes that are captured of a packet

enum Option : std::uint16_t {
  kEnd = 0,
  kComment = 1,
  kName = 2,            // of an interface
  kFlags = 2,           // of a packet
  kDescription = 3,     // of an interface
  kApplication = 4,     // of a section
  kPacketId = 5,        // of a packet
  kTimeResolution = 9,  // of an interface
  kFcsLength = 13,      // of an interface
};
constexpr std::uint8_t kNanoseconds = 9;  // digits of a second
constexpr std::uint32_t kInbound = 1, kOutbound = 2;

void put(ByteVector& out, std::uint64_t value, unsigned bytes) {
  for (unsigned byte = 0; byte < bytes; ++byte) {
    out.push_back(static_cast<std::uint8_t>(value >> 8 * byte));
  }
}

// Blocks and options end at multiples of 4 bytes from their begin.
void pad(ByteVector& out, std::size_t count) {
  out.resize(out.size() + (4 - count % 4) % 4);
}

void put_option(ByteVector& out, Option code, const std::string& text) {
  put(out, code, 2);
  put(out, text.size(), 2);
  out.insert(out.end(), text.begin(), text.end());
  pad(out, text.size());
}

void put_option(ByteVector& out, Option code, std::uint64_t value, unsigned bytes) {
  put(out, code, 2);
  put(out, bytes, 2);
  put(out, value, bytes);
  pad(out, bytes);
}

// A block whose length stands at both ends, to be known with its last byte.
class Block {
 public:
  Block(ByteVector& out, BlockType type) : out_(out), begin_(out.size()) {
    put(out, type, 4);
    put(out, 0, 4);
  }
  void end() {
    put_option(out_, kEnd, 0, 0);
    const std::size_t length = out_.size() + 4 - begin_;
    put(out_, length, 4);
    for (unsigned byte = 0; byte < 4; ++byte) {
      out_[begin_ + 4 + byte] = out_[out_.size() - 4 + byte];
    }
  }

 private:
  ByteVector& out_;
  const std::size_t begin_;
};

}  // namespace

void put_section(ByteVector& file, const std::string& application) {
  Block block(file, kSectionBlock);
  put(file, kByteOrderMagic, 4);
  put(file, kMajorVersion, 2);
  put(file, kMinorVersion, 2);
  put(file, kOpenLength, 8);
  put_option(file, kApplication, application);
  block.end();
}

void put_port(ByteVector& file, const CapturedPort& port) {
  Block block(file, kInterfaceBlock);
  put(file, static_cast<std::uint16_t>(port.link_type), 4);  // 2 of them reserved
  put(file, kNoLimit, 4);
  put_option(file, kName, port.name);
  put_option(file, kDescription, port.description);
  put_option(file, kTimeResolution, kNanoseconds, 1);
  if (port.link_type == LinkType::kEthernet) {
    put_option(file, kFcsLength, 0, 1);
  }
  block.end();
}

void put_frame(ByteVector& file, const CapturedFrame& frame) {
  constexpr std::int64_t kFsInNs = 1'000'000, kFsInPs = 1'000;
  const auto ns = static_cast<std::uint64_t>(frame.time.fs / kFsInNs);
  Block block(file, kPacketBlock);
  put(file, frame.port, 4);
  put(file, ns >> 32, 4);  // the higher half comes first
  put(file, ns, 4);
  put(file, frame.count, 4);  // captured, and on the wire
  put(file, std::max(frame.count, frame.whole), 4);
  file.insert(file.end(), frame.bytes, frame.bytes + frame.count);
  pad(file, frame.count);
  put_option(file, kComment,
             fmt::format("{}.{:03} ps", frame.time.fs / kFsInPs, frame.time.fs % kFsInPs));
  put_option(file, kFlags, frame.is_inbound ? kInbound : kOutbound, 4);
  put_option(file, kPacketId, frame.id, 8);
  block.end();
}

}  // namespace flitwise
