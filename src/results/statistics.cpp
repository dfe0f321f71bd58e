// SPDX-License-Identifier: Apache-2.0
// The table of statistics.
#include "results/statistics.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

double as_double(std::uint64_t value) {
  return static_cast<double>(value);
}

/// Bits as bytes: a whole number where they are whole bytes.
Json bytes_of(std::uint64_t bits) {
  return bits % 8 == 0 ? Json(bits / 8) : Json(as_double(bits) / 8);
}

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::uint64_t bit_packed(const LinkDirection& d, std::uint64_t WireBits::*part) {
  return d.link.is_bit_packed ? d.traffic.bits.*part : 0;
}

std::uint64_t bit_packed_total(const LinkDirection& d) {
  return bit_packed(d, &WireBits::header) + bit_packed(d, &WireBits::identity) +
         bit_packed(d, &WireBits::payload) + bit_packed(d, &WireBits::padding) +
         bit_packed(d, &WireBits::crc);
}

using Direction = LinkDirection;
using Latency = LatencyResult;
using Table = DhiResult;

std::vector<Statistic<Direction>> make_link_statistics() {
  return {
      {"tlps", "", "TLPs whose last symbol left in the counted part of the run, without replays.",
       [](const Direction& d) { return Json(d.traffic.tlps); }},
      {"payload_bytes", "B", "Payload of these TLPs: what a user would call the data.",
       [](const Direction& d) { return Json(d.traffic.payload_bytes); }},
      {"goodput_gbps", "Gb/s",
       "Payload over the time from the first to the last symbol of the counted TLPs.",
       [](const Direction& d) { return or_null(goodput_gbps(d)); }},
      {"utilisation", "1", "Share of the window in which the wire was not idle.",
       [](const Direction& d) { return or_null(utilisation(d.traffic)); }},
      {"link_efficiency", "1", "Payload over everything on the wire that is not idle.",
       [](const Direction& d) { return or_null(link_efficiency(d.traffic)); }},
      {"window_ns", "ns", "Span that the wire bytes cover.",
       [](const Direction& d) { return Json(d.traffic.window.ns()); }},
      {"wire_bytes.header", "B", "TLP headers without what is there only to name the domain.",
       [](const Direction& d) { return bytes_of(d.traffic.bits.header); }},
      {"wire_bytes.identity", "B",
       "Prefixes that only name the domain, and every wire byte of ALLOC and DEALLOC.",
       [](const Direction& d) { return bytes_of(d.traffic.bits.identity); }},
      {"wire_bytes.payload", "B", "Payload on the wire, sent for the first time.",
       [](const Direction& d) { return bytes_of(d.traffic.bits.payload); }},
      {"wire_bytes.padding", "B", "Bytes that fill a payload or a flit up to its unit.",
       [](const Direction& d) { return bytes_of(d.traffic.bits.padding); }},
      {"wire_bytes.framing", "B", "Start and end tokens and sequence numbers.",
       [](const Direction& d) { return bytes_of(d.traffic.bits.framing); }},
      {"wire_bytes.crc", "B", "LCRC, ECRC and the CRC of flits.",
       [](const Direction& d) { return bytes_of(d.traffic.bits.crc); }},
      {"wire_bytes.dllp", "B", "Acks, Naks and credit updates with their framing.",
       [](const Direction& d) { return bytes_of(d.traffic.bits.dllp); }},
      {"wire_bytes.fec", "B", "Forward error correction.",
       [](const Direction& d) { return bytes_of(d.traffic.bits.fec); }},
      {"wire_bytes.phy", "B", "Line coding, SKP ordered sets, end of data stream and their fill.",
       [](const Direction& d) { return bytes_of(d.traffic.bits.phy); }},
      {"wire_bytes.replay", "B", "TLPs sent again, all of their bytes.",
       [](const Direction& d) { return bytes_of(d.traffic.bits.replay); }},
      {"wire_bytes.idle", "B", "Symbols that carried nothing.",
       [](const Direction& d) { return bytes_of(d.traffic.bits.idle); }},
      {"wire_bytes.total", "B", "Sum of all parts: rate x lanes x window.",
       [](const Direction& d) { return bytes_of(d.traffic.bits.total()); }},
      {"wire_bits.header", "bit", "Bit-packed carrier: header bits; zero on other carriers.",
       [](const Direction& d) { return Json(bit_packed(d, &WireBits::header)); }},
      {"wire_bits.identity", "bit", "Bit-packed carrier: bits that name the domain.",
       [](const Direction& d) { return Json(bit_packed(d, &WireBits::identity)); }},
      {"wire_bits.payload", "bit", "Bit-packed carrier: payload bits.",
       [](const Direction& d) { return Json(bit_packed(d, &WireBits::payload)); }},
      {"wire_bits.padding", "bit", "Bit-packed carrier: bits that fill the last flit.",
       [](const Direction& d) { return Json(bit_packed(d, &WireBits::padding)); }},
      {"wire_bits.crc", "bit", "Bit-packed carrier: CRC bits of the flits.",
       [](const Direction& d) { return Json(bit_packed(d, &WireBits::crc)); }},
      {"wire_bits.total", "bit", "Bit-packed carrier: sum of the five parts above.",
       [](const Direction& d) { return Json(bit_packed_total(d)); }},
      {"stall_ns.credits_posted", "ns", "Time a posted TLP waited for flow-control credits.",
       [](const Direction& d) { return Json(d.traffic.stalls.credits_posted.ns()); }},
      {"stall_ns.credits_nonposted", "ns", "Time a non-posted TLP waited for credits.",
       [](const Direction& d) { return Json(d.traffic.stalls.credits_nonposted.ns()); }},
      {"stall_ns.credits_completion", "ns", "Time a completion waited for credits.",
       [](const Direction& d) { return Json(d.traffic.stalls.credits_completion.ns()); }},
      {"stall_ns.credits_cxl_req", "ns",
       "Time a message of CXL.cache or CXL.mem waited for request credits (Req, BISnp).",
       [](const Direction& d) { return Json(d.traffic.stalls.credits_cxl_req.ns()); }},
      {"stall_ns.credits_cxl_rsp", "ns",
       "Time a message of CXL.cache or CXL.mem waited for response credits (Rsp, NDR, BIRsp).",
       [](const Direction& d) { return Json(d.traffic.stalls.credits_cxl_rsp.ns()); }},
      {"stall_ns.credits_cxl_data", "ns",
       "Time a message of CXL.cache or CXL.mem waited for data credits (Data, RwD, DRS).",
       [](const Direction& d) { return Json(d.traffic.stalls.credits_cxl_data.ns()); }},
      {"stall_ns.tags", "ns", "Time a request waited for a free tag.",
       [](const Direction& d) { return Json(d.traffic.stalls.tags.ns()); }},
      {"stall_ns.replay_buffer", "ns",
       "Time TLPs, or messages or data of CXL.cache and CXL.mem, waited for room in the replay "
       "buffer.",
       [](const Direction& d) { return Json(d.traffic.stalls.replay_buffer.ns()); }},
      {"stall_ns.handle", "ns",
       "Time in which the stream of the device stood still because its foremost message waited for "
       "a handle.",
       [](const Direction& d) { return Json(d.traffic.stalls.handle.ns()); }},
      {"replays", "", "TLPs sent again.",
       [](const Direction& d) { return Json(d.traffic.replays); }},
      {"replay_events", "", "Replays started by a Nak or by the replay timer.",
       [](const Direction& d) { return Json(d.traffic.replay_events); }},
      {"naks", "", "Naks sent in this direction.",
       [](const Direction& d) { return Json(d.traffic.naks); }},
      {"acks", "", "Acks sent in this direction.",
       [](const Direction& d) { return Json(d.traffic.acks); }},
      {"update_fcs", "", "Credit updates sent in this direction.",
       [](const Direction& d) { return Json(d.traffic.update_fcs); }},
      {"skps", "", "SKP ordered sets sent in this direction.",
       [](const Direction& d) { return Json(d.traffic.skps); }},
      {"corrupted", "", "Packets of this direction that a bit error hit.",
       [](const Direction& d) { return Json(d.traffic.corrupted); }},
      {"retrains", "", "Recoveries that this direction asked for after REPLAY_NUM rolled over.",
       [](const Direction& d) { return Json(d.traffic.retrains); }},
      {"flits_corrected", "", "Flits of this direction that FEC mended.",
       [](const Direction& d) { return Json(d.traffic.flits_corrected); }},
      {"lost_tlps", "", "TLPs lost because the link went down or was down.",
       [](const Direction& d) { return Json(d.traffic.lost_tlps); }},
  };
}

std::vector<Statistic<Latency>> make_latency_statistics() {
  return {
      {"count", "", "Latencies recorded.", [](const Latency& l) { return Json(l.count); }},
      {"mean", "ns", "Exact mean.", [](const Latency& l) { return Json(l.mean); }},
      {"min", "ns", "Exact smallest latency.", [](const Latency& l) { return Json(l.min); }},
      {"p50", "ns", "Median, within 1/64.", [](const Latency& l) { return Json(l.p50); }},
      {"p90", "ns", "90th percentile, within 1/64.", [](const Latency& l) { return Json(l.p90); }},
      {"p99", "ns", "99th percentile, within 1/64.", [](const Latency& l) { return Json(l.p99); }},
      {"p999", "ns", "99.9th percentile, within 1/64.",
       [](const Latency& l) { return Json(l.p999); }},
      {"max", "ns", "Exact largest latency.", [](const Latency& l) { return Json(l.max); }},
  };
}

std::vector<Statistic<Table>> make_dhi_statistics() {
  return {
      {"lookups", "", "Messages that asked for a handle.",
       [](const Table& t) { return Json(t.lookups); }},
      {"hits", "", "Lookups that found a handle.", [](const Table& t) { return Json(t.hits); }},
      {"allocs", "", "ALLOC messages sent.", [](const Table& t) { return Json(t.allocs); }},
      {"deallocs", "", "DEALLOC messages sent.", [](const Table& t) { return Json(t.deallocs); }},
      {"evictions", "", "Handles taken from one domain for another.",
       [](const Table& t) { return Json(t.evictions); }},
      {"bypasses", "", "Messages that went with their full identity after a miss.",
       [](const Table& t) { return Json(t.bypasses); }},
      {"stall_ns", "ns",
       "Time in which a message waited for its handle; the device sends nothing meanwhile, one "
       "stalled message holds all behind it.",
       [](const Table& t) { return Json(t.stall.ns()); }},
      {"rejected", "",
       "Messages with a handle, ALLOCs and DEALLOCs of this device that the host refused.",
       [](const Table& t) { return Json(t.rejected); }},
      {"wrong_domain", "", "Lookups at the host that gave another domain than the sender meant.",
       [](const Table& t) { return Json(t.wrong_domain); }},
      {"tlps_per_residency", "TLP", "Mean TLPs sent with one handle between its ALLOC and its end.",
       [](const Table& t) { return Json(t.tlps_per_residency); }},
      {"flushes", "", "Zero-length reads sent to make sure of an ALLOC.",
       [](const Table& t) { return Json(t.flushes); }},
      {"acks", "", "Acknowledgements of ALLOCs by the host.",
       [](const Table& t) { return Json(t.acks); }},
      {"handles_kept", "",
       "Handles that go to no other domain any more, since a read with one timed out behind a "
       "switch; each counts once.",
       [](const Table& t) { return Json(t.handles_kept); }},
  };
}

template <class Subject>
void append(std::vector<StatisticInfo>& list, const char* where,
            const std::vector<Statistic<Subject>>& statistics) {
  for (const auto& statistic : statistics) {
    list.push_back({where, statistic.key, statistic.unit, statistic.definition});
  }
}

}  // namespace

const std::vector<Statistic<LinkDirection>>& link_statistics() {
  static const auto kStatistics = make_link_statistics();
  return kStatistics;
}

const std::vector<Statistic<LatencyResult>>& latency_statistics() {
  static const auto kStatistics = make_latency_statistics();
  return kStatistics;
}

const std::vector<Statistic<DhiResult>>& dhi_statistics() {
  static const auto kStatistics = make_dhi_statistics();
  return kStatistics;
}

std::vector<StatisticInfo> all_statistics() {
  std::vector<StatisticInfo> list = {
      {"flitwise", "simulated_ns", "ns",
       "Simulated time from the first counted request to the end of the last."},
      {"flitwise", "host_seconds", "s", "Wall-clock time that the run took on the host."},
  };
  append(list, "links[].up|down", link_statistics());
  append(list, "latency[]", latency_statistics());
  list.insert(
      list.end(),
      {{"latency[]", "dma_read", "ns",
        "Read requests of engines: from issue to the last byte at the engine."},
       {"latency[]", "dma_write", "ns",
        "Write requests of engines: from issue to the last byte in memory, or in a cache that "
        "keeps the line."},
       {"latency[]", "dma_write_tlp", "ns",
        "Write TLPs, or lines of CXL, each: from the request's issue to memory, or to a cache that "
        "keeps it."}});
  append(list, "dhi[]", dhi_statistics());
  list.push_back({"dhi[]", "rejections.KIND", "", "Refusals by the host, by kind."});
  append(list, "iommu[]", iommu_statistics());
  append(list, "ats[]", ats_statistics());
  append(list, "waits[]", wait_statistics());
  list.push_back({"errors[]", "count", "", "Things refused, dropped or reported, by kind."});
  return list;
}

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

}  // namespace flitwise
