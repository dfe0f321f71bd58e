// SPDX-License-Identifier: Apache-2.0
/// Links in the trace `pcapng`: what their wires carried as packets of an interface each, for
/// Wireshark and tshark with the dissector that comes with the program (docs/formats/pcapng.md).
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "common/byte_vector.h"
#include "trace/frame_capture.h"
#include "trace/trace_sink.h"

namespace flitwise {

/// What the dissector is called: link type 252 names it in each packet.
inline constexpr const char* kDissector = "flitwise";

/// Appends what a unit is in the file: the name of the dissector, a head of 32 bytes, and the bytes
/// of the unit.
void put_unit(ByteVector& out, const TraceEvent& event);

class LinkCapture final : public TraceSink {
 public:
  /// `file` outlives it and is flushed by its owner.
  explicit LinkCapture(FrameCapture& file) : file_(file) {}

  void add(const TracedLink& link) override;
  /// Of a link that has been added.
  void record(const TraceEvent& event) override;

 private:
  FrameCapture& file_;
  std::unordered_map<std::string, std::uint32_t> interfaces_;  // by link
  ByteVector bytes_;
};

}  // namespace flitwise
