// SPDX-License-Identifier: Apache-2.0
// Links, each direction a row.
#include <fmt/format.h>

#include <algorithm>
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
  return [counter](const LinkDirection& d) { return d.traffic.*counter; };
}

auto stalled(Time StallTimes::*time) {
  return [time](const LinkDirection& d) { return d.traffic.stalls.*time; };
}

auto bytes(std::uint64_t WireBits::*part) {
  return [part](const LinkDirection& d) { return bytes_of(d.traffic.bits.*part); };
}

auto packed(std::uint64_t WireBits::*part) {
  return [part](const LinkDirection& d) { return bit_packed(d, part); };
}

/// Payload bits over all bits that are not idle; empty when the wire carried nothing.
std::optional<double> link_efficiency(const DirectionResult& traffic) {
  const std::uint64_t used = traffic.bits.total() - traffic.bits.idle;
  if (used == 0) {
    return std::nullopt;
  }
  return as_double(traffic.bits.payload) / as_double(used);
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

/// Share of the window that is not idle; empty when there is no window.
std::optional<double> utilisation(const DirectionResult& traffic) {
  const std::uint64_t total = traffic.bits.total();
  if (total == 0) {
    return std::nullopt;
  }
  return as_double(total - traffic.bits.idle) / as_double(total);
}

std::vector<LinkDirection> directions(const std::vector<LinkResult>& links) {
  std::vector<LinkDirection> list;
  for (std::size_t i = 0; i < LinkDirection::count(links); ++i) {
    list.push_back(LinkDirection::at(links, i));
  }
  return list;
}

TextTable links_view(const std::vector<LinkResult>& links, const RunResult& result) {
  TextTable table(
      {"Link", "TLPs", "payload", "goodput", "utilisation", "link efficiency", "replayed TLPs"});
  for (const LinkDirection& direction : directions(links)) {
    const DirectionResult& traffic = direction.traffic;
    table.add(direction.name(), traffic.tlps,
              bytes_text(static_cast<double>(traffic.payload_bytes)),
              gbps_text(goodput_gbps(direction)), percent_text(utilisation(traffic)),
              percent_text(link_efficiency(traffic)), traffic.replays);
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

const StatisticsTable& link_table() {
  static const auto kTable =
      Table<LinkDirection, LinkResult>(
          "links", "link_direction",
          "One row per link and direction. The parts of wire_bytes add up to its total.")
          .name(
              "name", [](const LinkDirection& d) { return d.link.name; }, "link")
          .name("direction",
                [](const LinkDirection& d) { return std::string(d.is_up() ? "up" : "down"); })
          .nest("up|down")
          .count("tlps", counted(&DirectionResult::tlps),
                 "TLPs whose last symbol left in the counted part of the run, without replays.")
          .count("payload_bytes", counted(&DirectionResult::payload_bytes),
                 "Payload of these TLPs: what a user would call the data.", "B")
          .real_or_none(
              "goodput_gbps", [](const LinkDirection& d) { return goodput_gbps(d); }, "Gb/s",
              "Payload over the time from the first to the last symbol of the counted TLPs.")
          .real_or_none(
              "utilisation", [](const LinkDirection& d) { return utilisation(d.traffic); }, "1",
              "Share of the window in which the wire was not idle.")
          .real_or_none(
              "link_efficiency", [](const LinkDirection& d) { return link_efficiency(d.traffic); },
              "1", "Payload over everything on the wire that is not idle.")
          .real(
              "window_ns", [](const LinkDirection& d) { return d.traffic.window.ns(); }, "ns",
              "Span that the wire bytes cover.")
          .real("wire_bytes.header", bytes(&WireBits::header), "B",
                "TLP headers without what is there only to name the domain.")
          .real("wire_bytes.identity", bytes(&WireBits::identity), "B",
                "Prefixes that only name the domain, and every wire byte of ALLOC and DEALLOC.")
          .real("wire_bytes.payload", bytes(&WireBits::payload), "B",
                "Payload on the wire, sent for the first time.")
          .real("wire_bytes.padding", bytes(&WireBits::padding), "B",
                "Bytes that fill a payload or a flit up to its unit.")
          .real("wire_bytes.framing", bytes(&WireBits::framing), "B",
                "Start and end tokens and sequence numbers.")
          .real("wire_bytes.crc", bytes(&WireBits::crc), "B", "LCRC, ECRC and the CRC of flits.")
          .real("wire_bytes.dllp", bytes(&WireBits::dllp), "B",
                "Acks, Naks and credit updates with their framing.")
          .real("wire_bytes.fec", bytes(&WireBits::fec), "B", "Forward error correction.")
          .real("wire_bytes.phy", bytes(&WireBits::phy), "B",
                "Line coding, SKP ordered sets, end of data stream and their fill.")
          .real("wire_bytes.replay", bytes(&WireBits::replay), "B",
                "TLPs sent again, all of their bytes.")
          .real("wire_bytes.idle", bytes(&WireBits::idle), "B", "Symbols that carried nothing.")
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
          .count(
              "wire_bits.total", [](const LinkDirection& d) { return bit_packed_total(d); },
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
