// SPDX-License-Identifier: Apache-2.0
#include "trace/perfetto_file.h"

#include <cstring>

namespace flitwise {
namespace {

// Trace
constexpr unsigned kPacket = 1;
// TracePacket
constexpr unsigned kTimestamp = 8, kSequenceId = 10, kTrackEvent = 11, kTrackDescriptor = 60;
// TrackDescriptor
constexpr unsigned kUuid = 1, kName = 2, kProcess = 3, kParent = 5, kCounter = 8;
// ProcessDescriptor
constexpr unsigned kPid = 1, kProcessName = 6;
// TrackEvent
constexpr unsigned kAnnotation = 4, kType = 9, kTrackUuid = 11, kEventName = 23, kCounterValue = 30,
                   kFlowIds = 47;
// TrackEvent.Type
constexpr unsigned kBegin = 1, kEnd = 2, kInstant = 3, kCounterType = 4;
// DebugAnnotation
constexpr unsigned kUint = 3, kString = 6, kAnnotationName = 10;

// Wire types
constexpr unsigned kVarint = 0, kFixed64 = 1, kBytes = 2;

constexpr std::int64_t kFsOfNs = 1'000'000;
constexpr std::size_t kBufferBytes = 1U << 18U, kMostOfAPacket = 1U << 14U;

std::uint64_t ns_of(Time time) {
  return time.fs < 0 ? 0 : static_cast<std::uint64_t>(time.fs / kFsOfNs);
}

}  // namespace

PerfettoFile::PerfettoFile(const std::string& path)
    : file_(path), buffer_(kBufferBytes), at_(buffer_.data()) {}

void PerfettoFile::write_buffer() {
  file_.write(buffer_.data(), static_cast<std::size_t>(at_ - buffer_.data()));
  at_ = buffer_.data();
}

// ---- the wire format

inline void PerfettoFile::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) {
    *at_++ = static_cast<char>(value | 0x80);
  }
  *at_++ = static_cast<char>(value);
}

inline void PerfettoFile::number(unsigned field, std::uint64_t value) {
  varint(field << 3U | kVarint);
  varint(value);
}

inline void PerfettoFile::text(unsigned field, std::string_view value) {
  varint(field << 3U | kBytes);
  varint(value.size());
  std::memcpy(at_, value.data(), value.size());
  at_ += value.size();
}

inline PerfettoFile::Place PerfettoFile::open(unsigned field) {
  varint(field << 3U | kBytes);
  at_ += 2;
  return static_cast<Place>(at_ - buffer_.data());
}

// A varint need not be as short as it could be.
inline void PerfettoFile::close(Place begin) {
  char* const content = buffer_.data() + begin;
  const auto length = static_cast<std::size_t>(at_ - content);
  content[-2] = static_cast<char>((length & 0x7f) | 0x80);
  content[-1] = static_cast<char>(length >> 7U);
}

inline PerfettoFile::Place PerfettoFile::open_packet() {
  constexpr std::uint64_t kOnlySequence = 1;
  if (at_ + kMostOfAPacket > buffer_.data() + buffer_.size()) {
    write_buffer();
  }
  const Place packet = open(kPacket);
  number(kSequenceId, kOnlySequence);
  return packet;
}

// ---- tracks

PerfettoFile::Track PerfettoFile::process(const std::string& name) {
  const Place packet = open_packet(), descriptor = open(kTrackDescriptor);
  number(kUuid, ++tracks_);
  const Place process = open(kProcess);
  number(kPid, tracks_);
  text(kProcessName, name);
  close(process);
  close(descriptor);
  close(packet);
  return tracks_;
}

PerfettoFile::Track PerfettoFile::row(Track process, const std::string& name) {
  const Place packet = open_packet(), descriptor = open(kTrackDescriptor);
  number(kUuid, ++tracks_);
  text(kName, name);
  number(kParent, process);
  close(descriptor);
  close(packet);
  return tracks_;
}

PerfettoFile::Track PerfettoFile::counter(Track process, const std::string& name) {
  const Place packet = open_packet(), descriptor = open(kTrackDescriptor);
  number(kUuid, ++tracks_);
  text(kName, name);
  number(kParent, process);
  close(open(kCounter));
  close(descriptor);
  close(packet);
  return tracks_;
}

// ---- events

inline void PerfettoFile::open_event(Track track, unsigned type, Time at) {
  packet_ = open_packet();
  number(kTimestamp, ns_of(at));
  event_ = open(kTrackEvent);
  number(kType, type);
  number(kTrackUuid, track);
}

void PerfettoFile::done() {
  close(event_);
  close(packet_);
}

void PerfettoFile::begin(Track track, std::string_view name, Time at) {
  open_event(track, kBegin, at);
  text(kEventName, name);
}

void PerfettoFile::instant(Track track, std::string_view name, Time at) {
  open_event(track, kInstant, at);
  text(kEventName, name);
}

void PerfettoFile::note(std::string_view name, std::uint64_t value) {
  const Place annotation = open(kAnnotation);
  text(kAnnotationName, name);
  number(kUint, value);
  close(annotation);
}

void PerfettoFile::note(std::string_view name, std::string_view value) {
  const Place annotation = open(kAnnotation);
  text(kAnnotationName, name);
  text(kString, value);
  close(annotation);
}

void PerfettoFile::flow(std::uint64_t number) {
  varint(kFlowIds << 3U | kFixed64);
  for (unsigned byte = 0; byte < 8; ++byte) {
    *at_++ = static_cast<char>(number >> 8 * byte);
  }
}

void PerfettoFile::end(Track track, Time at) {
  open_event(track, kEnd, at);
  done();
}

void PerfettoFile::value(Track track, Time at, std::uint64_t value) {
  open_event(track, kCounterType, at);
  number(kCounterValue, value);
  done();
}

}  // namespace flitwise
