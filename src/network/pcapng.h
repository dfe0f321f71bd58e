// SPDX-License-Identifier: Apache-2.0
/// Blocks of a capture file (pcapng, draft-ietf-opsawg-pcapng) as bytes, the lowest byte of a
/// number first: a section, an interface for each port, a packet for each frame that passes one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/byte_vector.h"
#include "flitwise/time.h"

namespace flitwise {

/// What the bytes of packets begin with, by its number in the registry of link types.
enum class LinkType : std::uint16_t {
  kEthernet = 1,    ///< destination, source and type; without FCS
  kUser0 = 147,     ///< something of one's own
  kUpperPdu = 252,  ///< the name of a dissector, and what it takes
};

struct CapturedPort {
  std::string name, description;  ///< below 64 KiB each
  LinkType link_type = LinkType::kEthernet;
};

struct CapturedFrame {
  std::uint32_t port = 0;   ///< number of its interface block in the section, from 0
  bool is_inbound = false;  ///< it came to the port; else it left there
  std::uint64_t id = 0;     ///< the same wherever the same frame is seen
  Time time{};              ///< rounded down to ns in its block, and exact in a comment of it
  const std::uint8_t* bytes = nullptr;
  std::size_t count = 0;
  std::size_t whole = 0;  ///< of the frame, where bytes are the first of it; 0: they are all
};

/// Appends the block that begins a file. Its length is left open, as of what is still being
/// written.
void put_section(ByteVector& file, const std::string& application);
void put_port(ByteVector& file, const CapturedPort& port);
void put_frame(ByteVector& file, const CapturedFrame& frame);

}  // namespace flitwise
