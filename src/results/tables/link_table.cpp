// SPDX-License-Identifier: Apache-2.0
// Links, each direction a row.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "results/drain_text.h"
#include "results/link_direction.h"
#include "results/tables.h"

namespace flitwise {
namespace {

double as_double(std::uint64_t value) {
  return static_cast<double>(value);
}

/// Bits as bytes: a whole number where they are whole bytes.
FigureValue bytes_of(std::uint64_t bits) {
  return bits % 8 == 0 ? FigureValue(bits / 8) : FigureValue(as_double(bits) / 8);
}

FigureValue or_none(const std::optional<double>& value) {
  return value ? FigureValue(*value) : FigureValue();
}

std::uint64_t bit_packed(const LinkDirection& d, std::uint64_t WireBits::*part) {
  return d.link.is_bit_packed ? d.traffic.bits.*part : 0;
}

std::uint64_t bit_packed_total(const LinkDirection& d) {
  return bit_packed(d, &WireBits::header) + bit_packed(d, &WireBits::identity) +
         bit_packed(d, &WireBits::payload) + bit_packed(d, &WireBits::padding) +
         bit_packed(d, &WireBits::crc);
}

using Getter = std::function<FigureValue(const LinkDirection&)>;

Getter counted(std::uint64_t DirectionResult::*counter) {
  return [counter](const LinkDirection& d) { return FigureValue(d.traffic.*counter); };
}

Getter stalled(Time StallTimes::*time) {
  return [time](const LinkDirection& d) { return FigureValue((d.traffic.stalls.*time).ns()); };
}

Getter bytes(std::uint64_t WireBits::*part) {
  return [part](const LinkDirection& d) { return bytes_of(d.traffic.bits.*part); };
}

Getter packed(std::uint64_t WireBits::*part) {
  return [part](const LinkDirection& d) { return FigureValue(bit_packed(d, part)); };
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
    table.add_row({direction.name(), with_thousands(traffic.tlps),
                   bytes_text(static_cast<double>(traffic.payload_bytes)),
                   gbps_text(goodput_gbps(direction)), percent_text(utilisation(traffic)),
                   percent_text(link_efficiency(traffic)), with_thousands(traffic.replays)});
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

Table<LinkDirection, LinkResult> make_link_table() {
  return Table<LinkDirection, LinkResult>(
             "links", "link_direction",
             "One row per link and direction. The parts of wire_bytes add up to its total.")
      .name(
          "name", [](const LinkDirection& d) { return d.link.name; }, "link")
      .name("direction",
            [](const LinkDirection& d) { return std::string(d.is_up() ? "up" : "down"); })
      .nest("up|down")
      .figure("tlps", "",
              "TLPs whose last symbol left in the counted part of the run, without replays.",
              FigureType::kCount, counted(&DirectionResult::tlps))
      .figure("payload_bytes", "B", "Payload of these TLPs: what a user would call the data.",
              FigureType::kCount, counted(&DirectionResult::payload_bytes))
      .figure("goodput_gbps", "Gb/s",
              "Payload over the time from the first to the last symbol of the counted TLPs.",
              FigureType::kRealOrNone,
              [](const LinkDirection& d) { return or_none(goodput_gbps(d)); })
      .figure("utilisation", "1", "Share of the window in which the wire was not idle.",
              FigureType::kRealOrNone,
              [](const LinkDirection& d) { return or_none(utilisation(d.traffic)); })
      .figure("link_efficiency", "1", "Payload over everything on the wire that is not idle.",
              FigureType::kRealOrNone,
              [](const LinkDirection& d) { return or_none(link_efficiency(d.traffic)); })
      .figure("window_ns", "ns", "Span that the wire bytes cover.", FigureType::kReal,
              [](const LinkDirection& d) { return FigureValue(d.traffic.window.ns()); })
      .figure("wire_bytes.header", "B",
              "TLP headers without what is there only to name the domain.", FigureType::kReal,
              bytes(&WireBits::header))
      .figure("wire_bytes.identity", "B",
              "Prefixes that only name the domain, and every wire byte of ALLOC and DEALLOC.",
              FigureType::kReal, bytes(&WireBits::identity))
      .figure("wire_bytes.payload", "B", "Payload on the wire, sent for the first time.",
              FigureType::kReal, bytes(&WireBits::payload))
      .figure("wire_bytes.padding", "B", "Bytes that fill a payload or a flit up to its unit.",
              FigureType::kReal, bytes(&WireBits::padding))
      .figure("wire_bytes.framing", "B", "Start and end tokens and sequence numbers.",
              FigureType::kReal, bytes(&WireBits::framing))
      .figure("wire_bytes.crc", "B", "LCRC, ECRC and the CRC of flits.", FigureType::kReal,
              bytes(&WireBits::crc))
      .figure("wire_bytes.dllp", "B", "Acks, Naks and credit updates with their framing.",
              FigureType::kReal, bytes(&WireBits::dllp))
      .figure("wire_bytes.fec", "B", "Forward error correction.", FigureType::kReal,
              bytes(&WireBits::fec))
      .figure("wire_bytes.phy", "B",
              "Line coding, SKP ordered sets, end of data stream and their fill.",
              FigureType::kReal, bytes(&WireBits::phy))
      .figure("wire_bytes.replay", "B", "TLPs sent again, all of their bytes.", FigureType::kReal,
              bytes(&WireBits::replay))
      .figure("wire_bytes.idle", "B", "Symbols that carried nothing.", FigureType::kReal,
              bytes(&WireBits::idle))
      .figure("wire_bytes.total", "B", "Sum of all parts: rate x lanes x window.",
              FigureType::kReal,
              [](const LinkDirection& d) { return bytes_of(d.traffic.bits.total()); })
      .figure("wire_bits.header", "bit", "Bit-packed carrier: header bits; zero on other carriers.",
              FigureType::kCount, packed(&WireBits::header))
      .figure("wire_bits.identity", "bit", "Bit-packed carrier: bits that name the domain.",
              FigureType::kCount, packed(&WireBits::identity))
      .figure("wire_bits.payload", "bit", "Bit-packed carrier: payload bits.", FigureType::kCount,
              packed(&WireBits::payload))
      .figure("wire_bits.padding", "bit", "Bit-packed carrier: bits that fill the last flit.",
              FigureType::kCount, packed(&WireBits::padding))
      .figure("wire_bits.crc", "bit", "Bit-packed carrier: CRC bits of the flits.",
              FigureType::kCount, packed(&WireBits::crc))
      .figure("wire_bits.total", "bit", "Bit-packed carrier: sum of the five parts above.",
              FigureType::kCount,
              [](const LinkDirection& d) { return FigureValue(bit_packed_total(d)); })
      .figure("stall_ns.credits_posted", "ns", "Time a posted TLP waited for flow-control credits.",
              FigureType::kReal, stalled(&StallTimes::credits_posted))
      .figure("stall_ns.credits_nonposted", "ns", "Time a non-posted TLP waited for credits.",
              FigureType::kReal, stalled(&StallTimes::credits_nonposted))
      .figure("stall_ns.credits_completion", "ns", "Time a completion waited for credits.",
              FigureType::kReal, stalled(&StallTimes::credits_completion))
      .figure("stall_ns.credits_cxl_req", "ns",
              "Time a message of CXL.cache or CXL.mem waited for request credits (Req, BISnp).",
              FigureType::kReal, stalled(&StallTimes::credits_cxl_req))
      .figure(
          "stall_ns.credits_cxl_rsp", "ns",
          "Time a message of CXL.cache or CXL.mem waited for response credits (Rsp, NDR, BIRsp).",
          FigureType::kReal, stalled(&StallTimes::credits_cxl_rsp))
      .figure("stall_ns.credits_cxl_data", "ns",
              "Time a message of CXL.cache or CXL.mem waited for data credits (Data, RwD, DRS).",
              FigureType::kReal, stalled(&StallTimes::credits_cxl_data))
      .figure("stall_ns.tags", "ns", "Time a request waited for a free tag.", FigureType::kReal,
              stalled(&StallTimes::tags))
      .figure("stall_ns.replay_buffer", "ns",
              "Time TLPs, or messages or data of CXL.cache and CXL.mem, waited for room in the "
              "replay buffer.",
              FigureType::kReal, stalled(&StallTimes::replay_buffer))
      .figure("stall_ns.handle", "ns",
              "Time in which the stream of the device stood still because its foremost message "
              "waited for a handle.",
              FigureType::kReal, stalled(&StallTimes::handle))
      .figure("replays", "", "TLPs sent again.", FigureType::kCount,
              counted(&DirectionResult::replays))
      .figure("replay_events", "", "Replays started by a Nak or by the replay timer.",
              FigureType::kCount, counted(&DirectionResult::replay_events))
      .figure("naks", "", "Naks sent in this direction.", FigureType::kCount,
              counted(&DirectionResult::naks))
      .figure("acks", "", "Acks sent in this direction.", FigureType::kCount,
              counted(&DirectionResult::acks))
      .figure("update_fcs", "", "Credit updates sent in this direction.", FigureType::kCount,
              counted(&DirectionResult::update_fcs))
      .figure("skps", "", "SKP ordered sets sent in this direction.", FigureType::kCount,
              counted(&DirectionResult::skps))
      .figure("corrupted", "", "Packets of this direction that a bit error hit.",
              FigureType::kCount, counted(&DirectionResult::corrupted))
      .figure("retrains", "",
              "Recoveries that this direction asked for after REPLAY_NUM rolled over.",
              FigureType::kCount, counted(&DirectionResult::retrains))
      .figure("flits_corrected", "", "Flits of this direction that FEC mended.", FigureType::kCount,
              counted(&DirectionResult::flits_corrected))
      .figure("lost_tlps", "", "TLPs lost because the link went down or was down.",
              FigureType::kCount, counted(&DirectionResult::lost_tlps))
      .flat(FlatRows::kEach, "")
      .show(links_view)
      .show(wire_view);
}

}  // namespace

std::optional<double> link_efficiency(const DirectionResult& traffic) {
  const std::uint64_t used = traffic.bits.total() - traffic.bits.idle;
  if (used == 0) {
    return std::nullopt;
  }
  return as_double(traffic.bits.payload) / as_double(used);
}

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

std::optional<double> utilisation(const DirectionResult& traffic) {
  const std::uint64_t total = traffic.bits.total();
  if (total == 0) {
    return std::nullopt;
  }
  return as_double(total - traffic.bits.idle) / as_double(total);
}

const StatisticsTable& link_table() {
  static const Table<LinkDirection, LinkResult> kTable = make_link_table();
  return kTable;
}

}  // namespace flitwise
