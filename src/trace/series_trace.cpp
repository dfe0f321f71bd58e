// SPDX-License-Identifier: Apache-2.0
// Figures over time: a line a span of time and wire, and a line a span and kind of request.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "trace/trace_file.h"
#include "trace/trace_sink.h"

namespace flitwise {
namespace {

class SeriesTrace final : public TraceSink {
 public:
  explicit SeriesTrace(const std::string& path) : file_(path) {}
  ~SeriesTrace() override { write(); }
  SeriesTrace(const SeriesTrace&) = delete;
  SeriesTrace& operator=(const SeriesTrace&) = delete;

  void add(const TracedLink& link) override {
    track_of(link.name, "up");
    track_of(link.name, "down");
  }

  void record(const TraceEvent& event) override {
    if (!event.is_shown) {
      return;
    }
    const Packet& packet = *event.packet;
    const std::size_t track = track_of(event.link, event.is_up ? "up" : "down");
    Bin& bin = bin_of(track, event.first);
    Time& busy_until = tracks_[track].busy_until;
    if (!event.is_in_flit && event.last > busy_until) {  // units may share a symbol time
      bin.busy += event.last - std::max(event.first, busy_until);
      busy_until = event.last;
    }
    bin.damaged += event.is_damaged || event.is_lost ? 1 : 0;
    bin.replays += event.is_replay ? 1 : 0;
    if (packet.kind == PacketKind::kTlp || packet.cxl != nullptr) {
      ++bin.units;
      bin.payload_bytes += event.is_replay ? 0 : packet.payload_bytes;
    }
  }

  void over(const RequestEvent& event) override {
    const Packet& packet = *event.packet;
    const Time issued = packet.stamped(Hop::kIssue);
    if (issued == kNotStamped || event.done < issued) {
      return;
    }
    const bool is_read = packet.stamped(Hop::kCompleted) != kNotStamped;
    Bin& bin = bin_of(track_of("requests", is_read ? "read" : "write"), event.done);
    ++bin.units;
    bin.latency += event.done - issued;
  }

  void flush() override {
    write();
    file_.flush();
  }

 private:
  static constexpr std::size_t kMostBins = 2'048;
  struct Bin {
    std::uint64_t payload_bytes = 0, units = 0, replays = 0, damaged = 0;
    Time busy, latency;
    Bin& operator+=(const Bin& other) {
      payload_bytes += other.payload_bytes;
      units += other.units;
      replays += other.replays;
      damaged += other.damaged;
      busy += other.busy;
      latency += other.latency;
      return *this;
    }
  };
  struct Track {
    std::string name, side;
    std::vector<Bin> bins;
    Time busy_until{-1};
  };

  std::size_t track_of(const char* name, const char* side) {
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
      if (tracks_[i].name == name && tracks_[i].side == side) {
        return i;
      }
    }
    tracks_.push_back({name, side, {}, Time{-1}});
    return tracks_.size() - 1;
  }
  // A run that goes on has wider spans: there are never more than so many.
  Bin& bin_of(std::size_t track, Time at) {
    begin_ = begin_ == Time::never() ? at : begin_;
    at = at < begin_ ? Time{} : at - begin_;  // an answer was told of before the first question
    while (at.fs / width_.fs >= static_cast<std::int64_t>(kMostBins)) {
      width_ = width_ * 2;
      for (Track& one : tracks_) {
        std::vector<Bin> half((one.bins.size() + 1) / 2);
        for (std::size_t i = 0; i < one.bins.size(); ++i) {
          half[i / 2] += one.bins[i];
        }
        one.bins = std::move(half);
      }
    }
    const auto index = static_cast<std::size_t>(at.fs / width_.fs);
    std::vector<Bin>& bins = tracks_[track].bins;
    bins.resize(std::max(bins.size(), index + 1));
    return bins[index];
  }

  void write() {
    if (std::exchange(is_written_, true)) {
      return;
    }
    fmt::memory_buffer text;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "{}", kSeriesColumns);
    std::size_t bins = 0;
    for (const Track& track : tracks_) {
      bins = std::max(bins, track.bins.size());
    }
    for (std::size_t i = 0; i < bins; ++i) {
      const double from = begin_.ns() + static_cast<double>(i) * width_.ns();
      for (const Track& track : tracks_) {
        const Bin bin = i < track.bins.size() ? track.bins[i] : Bin{};
        const auto units = static_cast<double>(bin.units);
        fmt::format_to(out, "{:.3f},{:.3f},{},{},{:.6g},{:.6g},{},{},{},{}\n", from,
                       from + width_.ns(), track.name, track.side,
                       8 * static_cast<double>(bin.payload_bytes) / width_.ns(),
                       bin.busy.ns() / width_.ns(), bin.units, bin.replays, bin.damaged,
                       bin.latency.fs > 0 ? fmt::format("{:.6g}", bin.latency.ns() / units) : "");
      }
    }
    file_.write(text.data(), text.size());
  }

  TraceFile file_;
  std::vector<Track> tracks_;  // few: two a link
  Time begin_ = Time::never();
  Time width_ = Time::from_ns(16);
  bool is_written_ = false;
};

}  // namespace

std::unique_ptr<TraceSink> series_trace(const std::string& path) {
  return std::make_unique<SeriesTrace>(path);
}

}  // namespace flitwise
