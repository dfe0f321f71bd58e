// SPDX-License-Identifier: Apache-2.0
#include "trace/perfetto_file.h"

namespace flitwise {
namespace {

// Trace
constexpr unsigned kPacket = 1;
// TracePacket
constexpr unsigned kTimestamp = 8, kSequenceId = 10, kTrackEvent = 11, kTrackDescriptor = 60;
// TrackDescriptor
constexpr unsigned kUuid = 1, kName = 2, kProcess = 3, kParent = 5, kCounter = 8;
// ProcessDescriptor, CounterDescriptor
constexpr unsigned kPid = 1, kProcessName = 6, kUnitName = 6;
// TrackEvent
constexpr unsigned kAnnotation = 4, kType = 9, kTrackUuid = 11, kEventName = 23, kCounterValue = 30,
                   kFlowIds = 47;
// TrackEvent.Type
constexpr unsigned kBegin = 1, kEnd = 2, kInstant = 3, kCounterType = 4;
// DebugAnnotation
constexpr unsigned kUint = 3, kString = 6, kAnnotationName = 10;

constexpr std::int64_t kFsOfNs = 1'000'000;

std::uint64_t ns_of(Time time) {
  return time.fs < 0 ? 0 : static_cast<std::uint64_t>(time.fs / kFsOfNs);
}

}  // namespace

PerfettoFile::Track PerfettoFile::describe(ProtoWriter& descriptor) {
  packet_.clear();
  packet_.message(kTrackDescriptor, descriptor);
  write_packet();
  return tracks_;
}

PerfettoFile::Track PerfettoFile::process(const std::string& name) {
  ProtoWriter descriptor;
  descriptor.number(kUuid, ++tracks_);
  inner_.clear();
  inner_.number(kPid, tracks_);
  inner_.text(kProcessName, name);
  descriptor.message(kProcess, inner_);
  return describe(descriptor);
}

PerfettoFile::Track PerfettoFile::row(Track process, const std::string& name) {
  ProtoWriter descriptor;
  descriptor.number(kUuid, ++tracks_);
  descriptor.text(kName, name);
  descriptor.number(kParent, process);
  return describe(descriptor);
}

PerfettoFile::Track PerfettoFile::counter(Track process, const std::string& name,
                                          const std::string& unit) {
  ProtoWriter descriptor;
  descriptor.number(kUuid, ++tracks_);
  descriptor.text(kName, name);
  descriptor.number(kParent, process);
  inner_.clear();
  if (!unit.empty()) {
    inner_.text(kUnitName, unit);
  }
  descriptor.message(kCounter, inner_);
  return describe(descriptor);
}

PerfettoFile& PerfettoFile::note(std::string_view name, std::uint64_t value) {
  inner_.clear();
  inner_.text(kAnnotationName, name);
  inner_.number(kUint, value);
  event_.message(kAnnotation, inner_);
  return *this;
}

PerfettoFile& PerfettoFile::note(std::string_view name, std::string_view value) {
  inner_.clear();
  inner_.text(kAnnotationName, name);
  inner_.text(kString, value);
  event_.message(kAnnotation, inner_);
  return *this;
}

PerfettoFile& PerfettoFile::flow(std::uint64_t number) {
  event_.fixed64(kFlowIds, number);
  return *this;
}

// What has been noted stands in event_ already: the order of fields means nothing.
void PerfettoFile::event(Track track, unsigned type, Time at) {
  event_.number(kType, type);
  event_.number(kTrackUuid, track);
  packet_.clear();
  packet_.number(kTimestamp, ns_of(at));
  packet_.message(kTrackEvent, event_);
  event_.clear();
  write_packet();
}

void PerfettoFile::begin(Track track, std::string_view name, Time at) {
  event_.text(kEventName, name);
  event(track, kBegin, at);
}

void PerfettoFile::end(Track track, Time at) {
  event(track, kEnd, at);
}

void PerfettoFile::slice(Track track, std::string_view name, Time begin_at, Time end_at) {
  begin(track, name, begin_at);
  end(track, end_at);
}

void PerfettoFile::instant(Track track, std::string_view name, Time at) {
  event_.text(kEventName, name);
  event(track, kInstant, at);
}

void PerfettoFile::value(Track track, Time at, std::int64_t value) {
  event_.number(kCounterValue, static_cast<std::uint64_t>(value));
  event(track, kCounterType, at);
}

void PerfettoFile::write_packet() {
  constexpr std::uint64_t kOnlySequence = 1;
  packet_.number(kSequenceId, kOnlySequence);
  trace_.clear();
  trace_.message(kPacket, packet_);
  file_.write(trace_.bytes().data(), trace_.bytes().size());
}

}  // namespace flitwise
