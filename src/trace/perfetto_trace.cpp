// SPDX-License-Identifier: Apache-2.0
// The trace of Perfetto: a group of tracks a link.
#include <fmt/format.h>

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

/// The tracks of a link.
struct LinkTracks {
  struct Direction {
    PerfettoFile::Track wire = 0, requests_out = 0;
    std::array<PerfettoFile::Track, kFcClasses> credits{};
    WireState state;
    std::uint32_t shown_out = 0;
    std::array<std::int64_t, kFcClasses> shown_credits{-1, -1, -1};
  };

  LinkTracks(PerfettoFile& file, const std::string& name) : process(file.process("link " + name)) {
    for (const bool is_up : {true, false}) {
      Direction& one = directions[is_up ? 1 : 0];
      const std::string side = is_up ? "up" : "down";
      one.wire = file.row(process, side + " wire");
      one.requests_out = file.counter(process, side + " non-posted requests out");
      for (int i = 0; i < kFcClasses; ++i) {
        one.credits[static_cast<std::size_t>(i)] =
            file.counter(process, fmt::format("{} {} header credits left", side, kClasses[i]));
      }
    }
    for (const Stretch& stretch : kStretches) {
      stretches.emplace_back(file, process, stretch.name);
    }
  }

  PerfettoFile::Track process;
  std::array<Direction, 2> directions;  // down, up
  std::vector<Rows> stretches;
};

class PerfettoTrace final : public TraceSink {
 public:
  explicit PerfettoTrace(const std::string& path) : file_(path) {}

  void record(const TraceEvent& event) override {
    LinkTracks& link = tracks_of(event.link);
    LinkTracks::Direction& way = link.directions[event.is_up ? 1 : 0];
    LinkTracks::Direction& back = link.directions[event.is_up ? 0 : 1];
    const Packet& packet = *event.packet;
    if (!event.is_shown) {
      way.state.sent(event);
      back.state.came(event);
      return;
    }
    const char* const name = kind_of(packet);
    if (event.is_in_flit) {
      file_.instant(way.wire, name, event.last);
    } else {
      file_.begin(way.wire, name, event.first);
    }
    describe(event);
    file_.done();
    if (!event.is_in_flit) {
      file_.end(way.wire, event.last);
    }
    if (packet.kind == PacketKind::kTlp && !is_completion(packet.tlp.type)) {
      remember(packet, event.link);
    }
    way.state.sent(event);
    back.state.came(event);
    show(way, event.first);
    show(back, event.last);
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

  void flush() override { file_.flush(); }

 private:
  static constexpr std::size_t kMostRemembered = 1'000'000;  // requests that are never over

  LinkTracks& tracks_of(const char* link) {
    std::unique_ptr<LinkTracks>& tracks = links_[link];
    if (!tracks) {
      tracks = std::make_unique<LinkTracks>(file_, link);
    }
    return *tracks;
  }
  void remember(const Packet& packet, const char* link) {
    if (first_link_.size() >= kMostRemembered) {
      first_link_.clear();
    }
    first_link_.emplace(packet.uid, &tracks_of(link));
    if (fc_class(packet.tlp.type) == FcClass::kNonPosted) {
      requests_[RequestName{packet.tlp.requester_id, packet.tlp.tag}.key()] = packet.uid;
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
  // A request and its completions are joined by arrows.
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
    if (!is_completion(tlp.type)) {
      file_.flow(packet.uid);
      return;
    }
    const auto request = requests_.find(RequestName{tlp.requester_id, tlp.tag}.key());
    if (request != requests_.end()) {
      file_.flow(request->second);
    }
  }
  void show(LinkTracks::Direction& way, Time at) {
    if (const std::uint32_t out = way.state.requests_out(); out != way.shown_out) {
      file_.value(way.requests_out, at, out);
      way.shown_out = out;
    }
    for (const FcClass fc : kEachFcClass) {
      const auto i = static_cast<std::size_t>(fc);
      const auto left = way.state.header_credits(fc);
      if (left && *left != way.shown_credits[i]) {
        file_.value(way.credits[i], at, *left);
        way.shown_credits[i] = *left;
      }
    }
  }
  static std::uint64_t ps_of(Time time) { return static_cast<std::uint64_t>(time.fs / 1'000); }

  PerfettoFile file_;
  std::optional<Rows> lines_;                                           // none has been over
  std::unordered_map<const char*, std::unique_ptr<LinkTracks>> links_;  // by name, as it is told
  std::unordered_map<std::uint64_t, LinkTracks*> first_link_;  // by uid: of requests under way
  std::unordered_map<std::uint64_t, std::uint64_t> requests_;  // uid by RequestName::key()
};

}  // namespace

std::unique_ptr<TraceSink> perfetto_trace(const std::string& path) {
  return std::make_unique<PerfettoTrace>(path);
}

}  // namespace flitwise
