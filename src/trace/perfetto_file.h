// SPDX-License-Identifier: Apache-2.0
/// A trace of Perfetto as bytes: tracks, and slices, instants and counters on them. Field numbers
/// are those of Perfetto's public trace_packet.proto, track_descriptor.proto and track_event.proto.
/// Packets are written into one buffer, front to back: a message has a length of two bytes, which
/// is filled in at its end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flitwise/time.h"
#include "trace/trace_file.h"

namespace flitwise {

class PerfettoFile {
 public:
  using Track = std::uint64_t;

  /// Throws std::system_error when the file cannot be made.
  explicit PerfettoFile(const std::string& path);
  ~PerfettoFile() { write_buffer(); }
  PerfettoFile(const PerfettoFile&) = delete;
  PerfettoFile& operator=(const PerfettoFile&) = delete;

  /// A group of tracks.
  Track process(const std::string& name);
  /// A row of slices; rows of one group with the same name are drawn as one.
  Track row(Track process, const std::string& name);
  /// A curve.
  Track counter(Track process, const std::string& name);

  /// Begins a slice, or has an instant; note() and flow() speak of it, until done(). Names and
  /// texts of below 1,000 bytes.
  void begin(Track track, std::string_view name, Time at);
  void instant(Track track, std::string_view name, Time at);
  void note(std::string_view name, std::uint64_t value);
  void note(std::string_view name, std::string_view value);
  /// An arrow goes from the last slice with that number to this one; not 0.
  void flow(std::uint64_t number);
  void done();

  /// Ends the slice that was begun on the track.
  void end(Track track, Time at);
  void value(Track track, Time at, std::uint64_t value);

  /// All so far is kept. Throws std::system_error where it could not be.
  void flush() {
    write_buffer();
    file_.flush();
  }

 private:
  using Place = std::size_t;  // of a length, in the buffer

  void varint(std::uint64_t value);
  void number(unsigned field, std::uint64_t value);
  void text(unsigned field, std::string_view value);
  Place open(unsigned field);
  void close(Place length);
  Place open_packet();
  void open_event(Track track, unsigned type, Time at);
  void write_buffer();

  TraceFile file_;
  std::vector<char> buffer_;
  char* at_;  // where the next byte goes
  Place packet_ = 0, event_ = 0;
  Track tracks_ = 0;
};

}  // namespace flitwise
