// SPDX-License-Identifier: Apache-2.0
// The trace of Perfetto: a group of tracks a link.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "trace/packet_note.h"
#include "trace/perfetto_file.h"
#include "trace/trace_sink.h"
#include "trace/wire_state.h"

namespace flitwise {
namespace {

/// Slices that may overlap: as many rows of one name as are needed. The row that has been free for
/// longest is next.
class Rows {
 public:
  Rows(PerfettoFile& file, PerfettoFile::Track process, const char* name)
      : file_(file), process_(process), name_(name) {}

  PerfettoFile::Track free_row(Time begin, Time end) {
    if (!rows_.empty() && rows_.top().until <= begin) {
      const PerfettoFile::Track track = rows_.top().track;
      rows_.pop();
      rows_.push({end, track});
      return track;
    }
    const PerfettoFile::Track track = file_.row(process_, name_);
    rows_.push({end, track});
    return track;
  }

 private:
  struct Row {
    Time until;
    PerfettoFile::Track track;
    friend bool operator<(const Row& a, const Row& b) {  // the earliest on top
      return a.until > b.until || (a.until == b.until && a.track > b.track);
    }
  };
  PerfettoFile& file_;
  PerfettoFile::Track process_;
  const char* name_;
  std::priority_queue<Row> rows_;
};

/// What a TLP does between two of its stamps.
struct Stretch {
  const char* name;
  Hop from, to;
};
constexpr std::array kStretches = {
    Stretch{"engine to transaction queue", Hop::kIssue, Hop::kQueued},
    Stretch{"queue to wire", Hop::kQueued, Hop::kSent},
    Stretch{"wire to receiver", Hop::kSent, Hop::kReceived},
    Stretch{"root port", Hop::kReceived, Hop::kResolved},
    Stretch{"memory", Hop::kResolved, Hop::kMemory},
    Stretch{"memory to requester", Hop::kMemory, Hop::kCompleted}};

constexpr const char* kClasses[kFcClasses] = {"posted", "non-posted", "completion"};

/// The tracks of one wire.
struct WireTracks {
  WireTracks(PerfettoFile& file, PerfettoFile::Track process, const std::string& side,
             WireChanges& changes)
      : wire(file.row(process, side + " wire")),
        state(changes, file.counter(process, side + " non-posted requests out")) {
    for (const char* const fc_class : kClasses) {  // the tracks behind that one
      file.counter(process, fmt::format("{} {} header credits left", side, fc_class));
    }
  }

  PerfettoFile::Track wire;
  Time busy_until{};
  WireState state;
};

/// The tracks of a link.
struct LinkTracks {
  LinkTracks(PerfettoFile& file, const std::string& name, WireChanges& changes)
      : process(file.process("link " + name)),
        up(file, process, "up", changes),
        down(file, process, "down", changes) {
    for (const Stretch& stretch : kStretches) {
      stretches.emplace_back(file, process, stretch.name);
    }
  }

  PerfettoFile::Track process;
  WireTracks up, down;
  std::vector<Rows> stretches;
};

class PerfettoTrace final : public TraceSink {
 public:
  explicit PerfettoTrace(const std::string& path) : file_(path) {}

  void add(const TracedLink& link) override {
    LinkTracks& tracks = tracks_of(link.name);
    tracks.down.state.begin(link.credits[0]);
    tracks.up.state.begin(link.credits[1]);
  }

  void record(const TraceEvent& event) override {
    LinkTracks& link = tracks_of(event.link);
    WireTracks& way = event.is_up ? link.up : link.down;
    WireTracks& back = event.is_up ? link.down : link.up;
    way.state.sent(event);
    const std::uint64_t request = back.state.came(event);
    if (event.is_shown) {
      draw(event, way, request);
      if (is_request(*event.packet)) {
        remember(event.packet->uid, link);
      }
    }
    show_until(event.told);
  }

  void over(const RequestEvent& event) override {
    const Packet& packet = *event.packet;
    const auto link = first_link_.find(packet.uid);
    if (link == first_link_.end()) {
      line_over(packet, event.done);
      return;
    }
    LinkTracks& tracks = *link->second;
    for (std::size_t i = 0; i < kStretches.size(); ++i) {
      const Stretch& stretch = kStretches[i];
      const Time from = packet.stamped(stretch.from), to = packet.stamped(stretch.to);
      if (from != kNotStamped && to != kNotStamped && from <= to) {
        const PerfettoFile::Track row = tracks.stretches[i].free_row(from, to);
        file_.begin(row, kind_of(packet), from);
        file_.note("uid", packet.uid);
        file_.flow(packet.uid);
        file_.done();
        file_.end(row, to);
      }
    }
    first_link_.erase(link);
  }

  void flush() override {
    show_until(Time::never());
    file_.flush();
  }

 private:
  static constexpr std::size_t kMostRemembered = 1'000'000;  // requests that are never over

  LinkTracks& tracks_of(const char* link) {
    std::unique_ptr<LinkTracks>& tracks = links_[link];
    if (!tracks) {
      tracks = std::make_unique<LinkTracks>(file_, link, changes_);
    }
    return *tracks;
  }
  static bool is_request(const Packet& packet) {
    return packet.kind == PacketKind::kMessage ||
           (packet.kind == PacketKind::kTlp && !is_completion(packet.tlp.type));
  }
  void remember(std::uint64_t uid, LinkTracks& link) {
    if (first_link_.size() >= kMostRemembered) {
      first_link_.clear();
    }
    first_link_.emplace(uid, &link);
  }
  // Units may share a symbol time, and slices of a row must not overlap.
  void draw(const TraceEvent& event, WireTracks& way, std::uint64_t request) {
    const Packet& packet = *event.packet;
    if (event.is_in_flit) {
      file_.instant(way.wire, kind_of(packet), event.last);
    } else {
      file_.begin(way.wire, kind_of(packet), std::max(event.first, way.busy_until));
      way.busy_until = std::max(event.last, way.busy_until);
    }
    describe(event);
    // A request and its completions are joined by arrows.
    if (const std::uint64_t flow = is_request(packet) ? packet.uid : request; flow != 0) {
      file_.flow(flow);
    }
    file_.done();
    if (!event.is_in_flit) {
      file_.end(way.wire, way.busy_until);
    }
  }
  // Of CXL: its messages are packets of their own, and a hit has none.
  void line_over(const Packet& packet, Time done) {
    const Time issued = packet.stamped(Hop::kIssue);
    if (issued == kNotStamped || done < issued) {
      return;
    }
    if (!lines_) {
      lines_.emplace(file_, file_.process("lines of CXL"), "line");
    }
    const PerfettoFile::Track row = lines_->free_row(issued, done);
    file_.begin(row, kind_of(packet), issued);
    file_.note("uid", packet.uid);
    file_.done();
    file_.end(row, done);
  }
  void describe(const TraceEvent& event) {
    const Packet& packet = *event.packet;
    file_.note("uid", packet.uid);
    file_.note("first_ps", ps_of(event.first));
    file_.note("last_ps", ps_of(event.last));
    for (const auto& [flag, is_set] :
         {std::pair("replay", event.is_replay), std::pair("damaged", event.is_damaged),
          std::pair("lost", event.is_lost)}) {
      if (is_set) {
        file_.note(flag, 1);
      }
    }
    if (packet.kind != PacketKind::kTlp) {
      return;
    }
    const Tlp& tlp = packet.tlp;
    file_.note("requester_id", tlp.requester_id.value);
    file_.note("tag", tlp.tag);
    file_.note("address", tlp.address);
    file_.note("length_dw", tlp.length_dw);
    if (tlp.has_pasid) {
      file_.note("pasid", to_int(tlp.pasid));
    }
  }
  void show_until(Time now) {
    changes_.make_until(
        now, [this](std::uint64_t track, std::size_t value, Time at, std::uint64_t amount) {
          file_.value(track + value, at, amount);
        });
  }
  static std::uint64_t ps_of(Time time) { return static_cast<std::uint64_t>(time.fs / 1'000); }

  PerfettoFile file_;
  WireChanges changes_;
  std::optional<Rows> lines_;                                           // none has been over
  std::unordered_map<const char*, std::unique_ptr<LinkTracks>> links_;  // by name, as it is told
  std::unordered_map<std::uint64_t, LinkTracks*> first_link_;  // by uid: of requests under way
};

}  // namespace

std::unique_ptr<TraceSink> perfetto_trace(const std::string& path) {
  return std::make_unique<PerfettoTrace>(path);
}

}  // namespace flitwise
