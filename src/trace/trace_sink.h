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
  Time told{};  ///< now; no later event begins earlier
  /// Else a trace leaves it out, and only what it reckons from all units takes notice of it.
  bool is_shown = true;
};

/// A TLP of a request is over, or a line of CXL: its stamps say where it has been when.
struct RequestEvent {
  const Packet* packet;  ///< the request
  Time done;             ///< of a read: it has its last completion; of a write: it is in memory
};

/// Header credits of one class that a sender has. [LNK-8.2]
struct HeaderCredits {
  bool is_infinite = true;  ///< or none have been announced yet
  bool has_shared = false;  ///< TLPs take shared credits first, which are not these
  std::uint32_t used = 0;   ///< since the link came up, modulo the width of its counter
  std::uint32_t left = 0;
};

/// A link when traces begin, which may be long after it came up.
struct TracedLink {
  const char* name;                                              ///< outlives the sink
  std::array<std::array<HeaderCredits, kFcClasses>, 2> credits;  ///< of what is sent down, up
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  /// A link that will tell of its wires. Before anything else.
  virtual void add(const TracedLink& /*link*/) {}
  virtual void record(const TraceEvent& event) = 0;
  virtual void over(const RequestEvent& /*event*/) {}
  /// All so far is kept. Throws std::system_error where it could not be.
  virtual void flush() {}
};

/// The traces that `--trace KIND=FILE` can write. (docs/traces.md)
inline constexpr std::array<const char*, 6> kTraceKinds = {"packets", "pcapng", "perfetto",
                                                           "vcd",     "sqlite", "series"};

/// The trace `packets`: one CSV line for everything that a wire carried (docs/formats/packets.md).
/// Writes while the run goes on; complete once destroyed. Throws std::system_error when the file
/// cannot be made.
std::unique_ptr<TraceSink> packet_csv(const std::string& path);
/// The trace `perfetto`: what wires carried and where requests were when, for ui.perfetto.dev
/// (docs/formats/perfetto.md). The same of writing and failing.
std::unique_ptr<TraceSink> perfetto_trace(const std::string& path);
/// The trace `vcd`: wires as signals, for waveform viewers (docs/formats/vcd.md).
std::unique_ptr<TraceSink> vcd_trace(const std::string& path);
/// The trace `sqlite`: tables of units and requests (docs/formats/trace_sqlite.md).
std::unique_ptr<TraceSink> sqlite_trace(const std::string& path);
/// The trace `series`: figures over time, at most 2,048 spans (docs/formats/series.md).
std::unique_ptr<TraceSink> series_trace(const std::string& path);
/// Its first line.
inline constexpr const char* kSeriesColumns =
    "from_ns,until_ns,link,direction,goodput_gbps,busy,units,replays,damaged,latency_ns\n";

}  // namespace flitwise
