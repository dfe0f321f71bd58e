// SPDX-License-Identifier: Apache-2.0
// Links, each direction a row, and what drained after the last symbol of one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "results/summary_table.h"
#include "results/tables.h"

namespace flitwise {
namespace {

/// One direction of a link with the link it belongs to.
struct LinkDirection {
  const LinkResult& link;
  const DirectionResult& traffic;

  /// The same to read into.
  struct Slot {
    LinkResult& link;
    DirectionResult& traffic;

    void complete(const FigureValue& figures);
  };
  static std::vector<Slot> slots(LinkResult& link) { return {{link, link.up}, {link, link.down}}; }

  bool is_up() const { return &traffic == &link.up; }
  std::string name() const { return link.name + (is_up() ? " up" : " down"); }

  // Both directions of each link, one after the other.
  static std::size_t count(const std::vector<LinkResult>& links) { return 2 * links.size(); }
  static LinkDirection at(const std::vector<LinkResult>& links, std::size_t row) {
    const LinkResult& link = links[row / 2];
    return {link, row % 2 == 0 ? link.up : link.down};
  }
};

double as_double(std::uint64_t value) {
  return static_cast<double>(value);
}

/// Bits as bytes: a whole number where they are whole bytes.
FigureValue bytes_of(std::uint64_t bits) {
  return bits % 8 == 0 ? FigureValue(bits / 8) : FigureValue(as_double(bits) / 8);
}

std::uint64_t bit_packed(const LinkDirection& d, std::uint64_t WireBits::*part) {
  return d.link.is_bit_packed ? d.traffic.bits.*part : 0;
}

std::uint64_t bit_packed_total(const LinkDirection& d) {
  return bit_packed(d, &WireBits::header) + bit_packed(d, &WireBits::identity) +
         bit_packed(d, &WireBits::payload) + bit_packed(d, &WireBits::padding) +
         bit_packed(d, &WireBits::crc);
}

auto counted(std::uint64_t DirectionResult::*counter) {
  return [counter](const auto& d) -> auto& {
    return d.traffic.*counter;
  };
}

auto stalled(Time StallTimes::*time) {
  return [time](const auto& d) -> auto& {
    return d.traffic.stalls.*time;
  };
}

struct WireBytes {
  std::uint64_t WireBits::*part;
  FigureValue operator()(const LinkDirection& d) const { return bytes_of(d.traffic.bits.*part); }
  void write(const LinkDirection::Slot& d, const FigureValue& value) const {
    d.traffic.bits.*part = value.is_number_unsigned()
                               ? 8 * value.get<std::uint64_t>()
                               : static_cast<std::uint64_t>(8 * std::max(value.get<double>(), 0.0));
  }
};

auto packed(std::uint64_t WireBits::*part) {
  return [part](const LinkDirection& d) { return bit_packed(d, part); };
}

/// Payload bits over all bits that are not idle; empty when the wire carried nothing.
std::optional<double> link_efficiency(const LinkDirection& direction) {
  const WireBits& bits = direction.traffic.bits;
  const std::uint64_t used = bits.total() - bits.idle;
  if (used == 0) {
    return std::nullopt;
  }
  return as_double(bits.payload) / as_double(used);
}

/// Payload bits over the span from the first to the last symbol of the counted TLPs; empty without
/// such a span. Unit: Gb/s.
std::optional<double> goodput_gbps(const LinkDirection& direction) {
  const DirectionResult& traffic = direction.traffic;
  const Time span = traffic.last_symbol - traffic.first_symbol;
  if (traffic.tlps == 0 || span <= Time{}) {
    return std::nullopt;
  }
  const std::uint64_t bits =
      direction.link.is_bit_packed ? traffic.bits.payload : traffic.payload_bytes * 8;
  return as_double(bits) / span.ns();
}

/// Goodput says how long the span was; when it began is in no result.json. Without payload any span
/// gives the same goodput.
void LinkDirection::Slot::complete(const FigureValue& figures) {
  constexpr double kFsPerNs = 1e6;
  const FigureValue::json_pointer packed_bits("/wire_bits/total");
  link.is_bit_packed = link.is_bit_packed || figures.value(packed_bits, 0.0) != 0;
  const FigureValue gbps = figures.value("goodput_gbps", FigureValue());
  if (gbps.is_null()) {
    return;
  }
  const double bits =
      as_double(link.is_bit_packed ? traffic.bits.payload : 8 * traffic.payload_bytes);
  const double fs = bits > 0 ? bits / gbps.get<double>() * kFsPerNs : 1;
  const double most = as_double(static_cast<std::uint64_t>(Time::never().fs)) / 2;
  traffic.last_symbol = {std::llround(std::clamp(fs, 1.0, most))};
}

/// Share of the window that is not idle; empty when there is no window.
std::optional<double> utilisation(const LinkDirection& direction) {
  const WireBits& bits = direction.traffic.bits;
  const std::uint64_t total = bits.total();
  if (total == 0) {
    return std::nullopt;
  }
  return as_double(total - bits.idle) / as_double(total);
}

std::vector<LinkDirection> directions(const std::vector<LinkResult>& links) {
  std::vector<LinkDirection> list;
  for (std::size_t i = 0; i < LinkDirection::count(links); ++i) {
    list.push_back(LinkDirection::at(links, i));
  }
  return list;
}

constexpr double kWorthALine = 0.05;  // of the window

/// The other direction that carried TLPs longest in this window, if that is most of what came
/// afterwards.
const LinkDirection* later_wire(const std::vector<LinkDirection>& wires,
                                const DirectionResult& traffic) {
  const Time half{(traffic.last_symbol.fs + traffic.window_end.fs) / 2};
  const LinkDirection* latest = nullptr;
  for (const LinkDirection& one : wires) {
    const bool is_later =
        latest == nullptr || one.traffic.last_symbol > latest->traffic.last_symbol;
    const bool carries = one.traffic.last_symbol > half && one.traffic.first_symbol < half;
    if (one.traffic.tlps > 0 && &one.traffic != &traffic && carries && is_later) {
      latest = &one;
    }
  }
  return latest;
}

/// A request flies to the end of the wire, goes through switches, the root port and its translation
/// into host memory, and what it read through the device.
std::string behind_the_wires(const RunResult& result, const DirectionResult& traffic) {
  const Time asked = std::clamp(result.memory_asked, traffic.last_symbol, traffic.window_end);
  const Time done = std::clamp(result.memory_done, asked, traffic.window_end);
  const Time on_the_way = asked - traffic.last_symbol;
  const Time in_memory = done - asked;
  const Time in_device = traffic.window_end - done;
  if (in_memory >= on_the_way && in_memory >= in_device) {
    return fmt::format("host memory drained for {} more", time_text(in_memory.ns()));
  }
  return on_the_way >= in_device
             ? fmt::format("the last requests were on their way to host memory for {} more",
                           time_text(on_the_way.ns()))
             : fmt::format("the device was at work for {} more", time_text(in_device.ns()));
}

std::string within_the_window(const RunResult& result, const std::vector<LinkDirection>& wires,
                              const DirectionResult& traffic) {
  const LinkDirection* later = later_wire(wires, traffic);
  return later == nullptr
             ? behind_the_wires(result, traffic)
             : fmt::format("{} carried TLPs for {} more", later->name(),
                           time_text((std::min(later->traffic.last_symbol, traffic.window_end) -
                                      traffic.last_symbol)
                                         .ns()));
}

/// How long host memory went on after the last window: a line that a cache keeps is over for its
/// core there, and in memory when it is given up. [CXL-7.6]
Time behind_the_windows(const RunResult& result) {
  Time end{};
  for (const LinkResult& link : result.rows<LinkResult>()) {
    end = std::max({end, link.up.window_end, link.down.window_end});
  }
  return result.rows<CxlCacheResult>().empty() ? Time{} : std::max(result.memory_done, end) - end;
}

TextTable links_view(const std::vector<LinkResult>& links, const RunResult& result) {
  TextTable table(
      {"Link", "TLPs", "payload", "goodput", "utilisation", "link efficiency", "replayed TLPs"});
  for (const LinkDirection& direction : directions(links)) {
    const DirectionResult& traffic = direction.traffic;
    table.add(direction.name(), traffic.tlps,
              bytes_text(static_cast<double>(traffic.payload_bytes)),
              gbps_text(goodput_gbps(direction)), percent_text(utilisation(direction)),
              percent_text(link_efficiency(direction)), traffic.replays);
  }
  table.add_note(drain_text(result));
  return table;
}

struct WirePart {
  const char* name;
  std::uint64_t WireBits::*bits;
};
constexpr WirePart kWireParts[] = {
    {"payload", &WireBits::payload},   {"header", &WireBits::header},
    {"identity", &WireBits::identity}, {"padding", &WireBits::padding},
    {"framing", &WireBits::framing},   {"crc", &WireBits::crc},
    {"dllp", &WireBits::dllp},         {"fec", &WireBits::fec},
    {"phy", &WireBits::phy},           {"replay", &WireBits::replay},
    {"idle", &WireBits::idle},
};

/// Parts that no direction has are left out, so that the table stays narrow.
TextTable wire_view(const std::vector<LinkResult>& links, const RunResult& /*result*/) {
  const auto list = directions(links);
  std::vector<std::string> header = {"Bytes on the wire, %"};
  std::vector<WirePart> parts;
  for (const WirePart& part : kWireParts) {
    const auto has = [&part](const LinkDirection& d) { return d.traffic.bits.*part.bits != 0; };
    if (std::any_of(list.begin(), list.end(), has)) {
      parts.push_back(part);
      header.emplace_back(part.name);
    }
  }
  header.emplace_back("total");
  TextTable table(header);
  for (const LinkDirection& direction : list) {
    const WireBits& bits = direction.traffic.bits;
    if (bits.total() == 0) {
      continue;
    }
    std::vector<std::string> row = {direction.name()};
    for (const WirePart& part : parts) {
      row.push_back(fmt::format("{:.2f}", 100.0 * static_cast<double>(bits.*part.bits) /
                                              static_cast<double>(bits.total())));
    }
    row.push_back(bytes_text(static_cast<double>(bits.total()) / 8));
    table.add_row(row);
  }
  return table;
}

}  // namespace

std::string drain_text(const RunResult& result) {
  const std::vector<LinkDirection> wires = directions(result.rows<LinkResult>());
  const Time behind = behind_the_windows(result);
  std::string text;
  for (const LinkDirection& one : wires) {
    const DirectionResult& traffic = one.traffic;
    const Time rest = std::max(traffic.window_end, traffic.last_symbol) - traffic.last_symbol;
    const double worth_a_line = kWorthALine * traffic.window.ns();
    if (traffic.tlps == 0 || traffic.payload_bytes == 0 ||
        std::max(rest, behind).ns() <= worth_a_line) {
      continue;
    }
    text += fmt::format("{}: goodput is of {} up to its last symbol, utilisation of a window of {}",
                        one.name(), time_text((traffic.last_symbol - traffic.first_symbol).ns()),
                        time_text(traffic.window.ns()));
    if (rest.ns() > worth_a_line) {
      text += "; " + within_the_window(result, wires, traffic);
    }
    if (behind.ns() > worth_a_line) {
      text += fmt::format("; host memory wrote for {} after the window", time_text(behind.ns()));
    }
    text += '\n';
  }
  return text;
}

const StatisticsTable& link_table() {
  static const auto kTable =
      Table<LinkDirection, LinkResult>(
          "links", "link_direction",
          "One row per link and direction. The parts of wire_bytes add up to its total.")
          .name(
              "name", [](const auto& d) -> auto& { return d.link.name; }, "link")
          .name("direction",
                [](const LinkDirection& d) { return std::string(d.is_up() ? "up" : "down"); })
          .nest("up|down")
          .count("tlps", counted(&DirectionResult::tlps),
                 "TLPs whose last symbol left in the counted part of the run, without replays.")
          .count("payload_bytes", counted(&DirectionResult::payload_bytes),
                 "Payload of these TLPs: what a user would call the data.", "B")
          .real_or_none(
              "goodput_gbps", goodput_gbps, "Gb/s",
              "Payload over the time from the first to the last symbol of the counted TLPs.")
          .real_or_none("utilisation", utilisation, "1",
                        "Share of the window in which the wire was not idle.")
          .real_or_none("link_efficiency", link_efficiency, "1",
                        "Payload over everything on the wire that is not idle.")
          .real(
              "window_ns", [](const auto& d) -> auto& { return d.traffic.window; }, "ns",
              "Span that the wire bytes cover.")
          .real("wire_bytes.header", WireBytes{&WireBits::header}, "B",
                "TLP headers without what is there only to name the domain.")
          .real("wire_bytes.identity", WireBytes{&WireBits::identity}, "B",
                "Prefixes that only name the domain, and every wire byte of ALLOC and DEALLOC.")
          .real("wire_bytes.payload", WireBytes{&WireBits::payload}, "B",
                "Payload on the wire, sent for the first time.")
          .real("wire_bytes.padding", WireBytes{&WireBits::padding}, "B",
                "Bytes that fill a payload or a flit up to its unit.")
          .real("wire_bytes.framing", WireBytes{&WireBits::framing}, "B",
                "Start and end tokens and sequence numbers.")
          .real("wire_bytes.crc", WireBytes{&WireBits::crc}, "B",
                "LCRC, ECRC and the CRC of flits.")
          .real("wire_bytes.dllp", WireBytes{&WireBits::dllp}, "B",
                "Acks, Naks and credit updates with their framing.")
          .real("wire_bytes.fec", WireBytes{&WireBits::fec}, "B", "Forward error correction.")
          .real("wire_bytes.phy", WireBytes{&WireBits::phy}, "B",
                "Line coding, SKP ordered sets, end of data stream and their fill.")
          .real("wire_bytes.replay", WireBytes{&WireBits::replay}, "B",
                "TLPs sent again, all of their bytes.")
          .real("wire_bytes.idle", WireBytes{&WireBits::idle}, "B", "Symbols that carried nothing.")
          .real(
              "wire_bytes.total",
              [](const LinkDirection& d) { return bytes_of(d.traffic.bits.total()); }, "B",
              "Sum of all parts: rate x lanes x window.")
          .count("wire_bits.header", packed(&WireBits::header),
                 "Bit-packed carrier: header bits; zero on other carriers.", "bit")
          .count("wire_bits.identity", packed(&WireBits::identity),
                 "Bit-packed carrier: bits that name the domain.", "bit")
          .count("wire_bits.payload", packed(&WireBits::payload),
                 "Bit-packed carrier: payload bits.", "bit")
          .count("wire_bits.padding", packed(&WireBits::padding),
                 "Bit-packed carrier: bits that fill the last flit.", "bit")
          .count("wire_bits.crc", packed(&WireBits::crc),
                 "Bit-packed carrier: CRC bits of the flits.", "bit")
          .count("wire_bits.total", bit_packed_total,
                 "Bit-packed carrier: sum of the five parts above.", "bit")
          .time("stall_ns.credits_posted", stalled(&StallTimes::credits_posted),
                "Time a posted TLP waited for flow-control credits.")
          .time("stall_ns.credits_nonposted", stalled(&StallTimes::credits_nonposted),
                "Time a non-posted TLP waited for credits.")
          .time("stall_ns.credits_completion", stalled(&StallTimes::credits_completion),
                "Time a completion waited for credits.")
          .time("stall_ns.credits_cxl_req", stalled(&StallTimes::credits_cxl_req),
                "Time a message of CXL.cache or CXL.mem waited for request credits (Req, BISnp).")
          .time("stall_ns.credits_cxl_rsp", stalled(&StallTimes::credits_cxl_rsp),
                "Time a message of CXL.cache or CXL.mem waited for response credits (Rsp, NDR, "
                "BIRsp).")
          .time("stall_ns.credits_cxl_data", stalled(&StallTimes::credits_cxl_data),
                "Time a message of CXL.cache or CXL.mem waited for data credits (Data, RwD, DRS).")
          .time("stall_ns.tags", stalled(&StallTimes::tags),
                "Time a request waited for a free tag.")
          .time("stall_ns.replay_buffer", stalled(&StallTimes::replay_buffer),
                "Time TLPs, or messages or data of CXL.cache and CXL.mem, waited for room in the "
                "replay buffer.")
          .time("stall_ns.handle", stalled(&StallTimes::handle),
                "Time in which the stream of the device stood still because its foremost message "
                "waited for a handle.")
          .count("replays", counted(&DirectionResult::replays), "TLPs sent again.")
          .count("replay_events", counted(&DirectionResult::replay_events),
                 "Replays started by a Nak or by the replay timer.")
          .count("naks", counted(&DirectionResult::naks), "Naks sent in this direction.")
          .count("acks", counted(&DirectionResult::acks), "Acks sent in this direction.")
          .count("update_fcs", counted(&DirectionResult::update_fcs),
                 "Credit updates sent in this direction.")
          .count("skps", counted(&DirectionResult::skps),
                 "SKP ordered sets sent in this direction.")
          .count("corrupted", counted(&DirectionResult::corrupted),
                 "Packets of this direction that a bit error hit.")
          .count("retrains", counted(&DirectionResult::retrains),
                 "Recoveries that this direction asked for after REPLAY_NUM rolled over.")
          .count("flits_corrected", counted(&DirectionResult::flits_corrected),
                 "Flits of this direction that FEC mended.")
          .count("lost_tlps", counted(&DirectionResult::lost_tlps),
                 "TLPs lost because the link went down or was down.")
          .flat(FlatRows::kEach, "")
          .show(links_view)
          .show(wire_view);
  return kTable;
}

}  // namespace flitwise
