// SPDX-License-Identifier: Apache-2.0
/// Where observed traffic goes. A sink watches; it never changes what it sees.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "flitwise/packet.h"
#include "flitwise/time.h"

namespace flitwise {

/// One unit on a wire.
struct TraceEvent {
  Time first;        ///< start of its first symbol
  Time last;         ///< end of its last symbol
  const char* link;  ///< name of the link
  bool is_up;
  bool is_replay;
  bool is_damaged;
  bool is_lost;     ///< a fault takes it: it never arrives
  bool is_in_flit;  ///< part of a flit that has an event of its own
  std::uint16_t sequence;
  const Packet* packet;
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void record(const TraceEvent& event) = 0;
  /// All so far is kept. Throws std::system_error where it could not be.
  virtual void flush() {}
};

/// The traces that `--trace KIND=FILE` can write.
inline constexpr std::array<const char*, 2> kTraceKinds = {"packets", "pcapng"};

/// The trace `packets`: one CSV line for everything that a wire carried (docs/formats/packets.md).
/// Writes while the run goes on; complete once destroyed. Throws std::system_error when the file
/// cannot be made.
std::unique_ptr<TraceSink> packet_csv(const std::string& path);

}  // namespace flitwise
