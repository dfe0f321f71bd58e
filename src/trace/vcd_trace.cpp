// SPDX-License-Identifier: Apache-2.0
// Wires as signals: a change a line, in the order of time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <vector>

#include "trace/packet_note.h"
#include "trace/trace_file.h"
#include "trace/trace_sink.h"
#include "trace/wire_state.h"

namespace flitwise {
namespace {

/// Identifiers of a VCD are of printable characters, the shorter the better.
std::string short_name(std::size_t number) {
  constexpr std::size_t kFirst = '!', kMany = '~' - '!' + 1;
  std::string name;
  do {
    name += static_cast<char>(kFirst + number % kMany);
    number /= kMany;
  } while (number > 0);
  return name;
}

/// A text without what ends it.
std::string one_word(std::string text) {
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

class VcdTrace final : public TraceSink {
 public:
  explicit VcdTrace(const std::string& path) : file_(path) {}

  void add(const TracedLink& link) override {
    wire_of(link.name, true).state.begin(link.credits[1]);
    wire_of(link.name, false).state.begin(link.credits[0]);
  }

  void record(const TraceEvent& event) override {
    Wire& way = wire_of(event.link, event.is_up);
    Wire& back = wire_of(event.link, !event.is_up);
    way.state.sent(event);
    back.state.came(event);
    if (event.is_shown && !event.is_in_flit) {
      begin(way, event.first);
      change(way, Signal::kUnit, event.first, one_word(kind_of(*event.packet)));
      change(way, Signal::kReplay, event.first, event.is_replay ? "1" : "0");
      way.busy_until = std::max(way.busy_until, event.last);
      change(way, Signal::kBusy, way.busy_until, "0");
    }
    write_until(event.told);
  }

  void flush() override {
    write_until(Time::never());
    file_.flush();
  }

 private:
  enum class Signal : std::uint8_t { kBusy, kReplay, kUnit, kFirstValue };  // those of WireState
  struct Kind {
    const char *type, *name;
    unsigned bits;
  };
  static constexpr std::array<Kind, 7> kKinds = {{{"wire", "busy", 1},
                                                  {"wire", "replay", 1},
                                                  {"string", "unit", 1},
                                                  {"wire", "requests_out", 16},
                                                  {"wire", "posted_header_credits", 16},
                                                  {"wire", "nonposted_header_credits", 16},
                                                  {"wire", "completion_header_credits", 16}}};
  struct Wire {
    Wire(WireChanges& changes, std::size_t first_signal)
        : first(first_signal), state(changes, first_signal) {}
    const std::size_t first;  // of its signals
    Time busy_until{-1};
    WireState state;
  };
  Wire& wire_of(const char* link, bool is_up) {
    const auto [place, is_new] =
        wires_.try_emplace(std::pair(std::string(link), is_up), state_, kinds_.size());
    if (is_new) {
      for (const Kind& kind : kKinds) {
        kinds_.push_back(&kind);
      }
    }
    return place->second;
  }
  // Units may share a symbol time: the wire stays busy then.
  void begin(const Wire& wire, Time at) {
    const auto end = changes_.find(wire.busy_until);
    if (at > wire.busy_until || end == changes_.end()) {
      change(wire, Signal::kBusy, at, "1");
    } else {
      end->second.erase(wire.first + static_cast<std::size_t>(Signal::kBusy));
    }
  }
  static std::string binary(std::uint64_t value) { return fmt::format("b{:b} ", value & 0xffffU); }
  void change(const Wire& wire, Signal signal, Time at, const std::string& value) {
    changes_[at][wire.first + static_cast<std::size_t>(signal)] = value;
  }

  // Nothing can change any more before `now`.
  void write_until(Time now) {
    state_.make_until(now, [this](std::uint64_t first, std::size_t value, Time at,
                                  std::uint64_t amount) {
      changes_[at][first + static_cast<std::size_t>(Signal::kFirstValue) + value] = binary(amount);
    });
    while (!changes_.empty() && changes_.begin()->first < now) {
      write_header();
      std::string lines;
      for (const auto& [signal, value] : changes_.begin()->second) {
        shown_.resize(kinds_.size());
        if (shown_[signal] == value) {
          continue;
        }
        shown_[signal] = value;
        const bool is_text = std::string_view(kinds_[signal]->type) == "string";
        lines += (is_text ? "s" : "") + value + (is_text ? " " : "") + short_name(signal) + "\n";
      }
      if (!lines.empty()) {
        lines = fmt::format("#{}\n", changes_.begin()->first.fs / 1000) + lines;
        file_.write(lines.data(), lines.size());
      }
      changes_.erase(changes_.begin());
    }
  }

  void write_header() {
    if (is_begun_) {
      return;
    }
    is_begun_ = true;
    std::string text = "$timescale 1 ps $end\n$scope module flitwise $end\n";
    for (const auto& [name, wire] : wires_) {
      text += fmt::format("$scope module {}_{} $end\n", one_word(name.first),
                          name.second ? "up" : "down");
      for (std::size_t i = 0; i < kKinds.size(); ++i) {
        text += fmt::format("$var {} {} {} {} $end\n", kKinds[i].type, kKinds[i].bits,
                            short_name(wire.first + i), kKinds[i].name);
      }
      text += "$upscope $end\n";
    }
    text += "$upscope $end\n$enddefinitions $end\n";
    file_.write(text.data(), text.size());
  }

  TraceFile file_;
  bool is_begun_ = false;
  WireChanges state_;
  std::map<std::pair<std::string, bool>, Wire> wires_;
  std::vector<const Kind*> kinds_;                              // by signal
  std::vector<std::string> shown_;                              // by signal: its value
  std::map<Time, std::map<std::size_t, std::string>> changes_;  // of signals; the last one stays
};

}  // namespace

std::unique_ptr<TraceSink> vcd_trace(const std::string& path) {
  return std::make_unique<VcdTrace>(path);
}

}  // namespace flitwise
