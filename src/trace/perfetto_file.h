// SPDX-License-Identifier: Apache-2.0
/// A trace of Perfetto as bytes: tracks, and slices, instants and counters on them. Field numbers
/// are those of Perfetto's public trace_packet.proto, track_descriptor.proto and track_event.proto.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flitwise/time.h"
#include "trace/proto_writer.h"
#include "trace/trace_file.h"

namespace flitwise {

class PerfettoFile {
 public:
  using Track = std::uint64_t;

  /// Throws std::system_error when the file cannot be made.
  explicit PerfettoFile(const std::string& path) : file_(path) {}

  /// A group of tracks.
  Track process(const std::string& name);
  /// A row of slices; rows of one group with the same name are drawn as one.
  Track row(Track process, const std::string& name);
  /// A curve; `unit` may be empty.
  Track counter(Track process, const std::string& name, const std::string& unit);

  // ---- what an event says beside its name
  PerfettoFile& note(std::string_view name, std::uint64_t value);
  PerfettoFile& note(std::string_view name, std::string_view value);
  /// An arrow goes from the last slice with that number to this one; not 0.
  PerfettoFile& flow(std::uint64_t number);

  // ---- events: what has been noted goes into the next one
  void slice(Track track, std::string_view name, Time begin, Time end);
  void instant(Track track, std::string_view name, Time at);
  void value(Track track, Time at, std::int64_t value);
  /// Ends one that was begun.
  void begin(Track track, std::string_view name, Time at);
  void end(Track track, Time at);

  /// All so far is kept. Throws std::system_error where it could not be.
  void flush() { file_.flush(); }

 private:
  Track describe(ProtoWriter& descriptor);
  void event(Track track, unsigned type, Time at);
  void write_packet();

  TraceFile file_;
  ProtoWriter packet_, event_, inner_, trace_;
  Track tracks_ = 0;
};

}  // namespace flitwise
