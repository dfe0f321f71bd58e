// SPDX-License-Identifier: Apache-2.0
#include "script/srdma_line.h"

#include <limits>

#include "script/array_line.h"

namespace flitwise {
namespace {

constexpr const char* kSrdmaArgumentNames[] = {"{setup}", "end",     "group",   "session",
                                               "qpn",     "port",    "number",  "flag",
                                               "kind",    "{group}", "{fields}"};
constexpr std::uint64_t kMostSrdmaNs = 1'000'000'000;  // of any span
constexpr std::uint64_t kMostSrdmaUs = 4'000'000;      // of a lifetime
constexpr std::uint64_t kMostQpNumber = 0xff'ffff, kMostPortNumber = 0xffff;
constexpr std::uint64_t kMost32Bits = std::numeric_limits<std::uint32_t>::max();

struct SrdmaSetupKey {
  const char* name;
  std::uint64_t least, most;  // most 1: a flag
  void (*set)(SrdmaEndSetup& end, std::uint64_t value);
};

Time srdma_ns(std::uint64_t ns) {
  return Time::from_ns(static_cast<std::int64_t>(ns));
}
Time srdma_us(std::uint64_t us) {
  return Time::from_us(static_cast<std::int64_t>(us));
}

using SrdmaKeyEnd = SrdmaEndSetup;
using SrdmaKeyValue = std::uint64_t;
const SrdmaSetupKey kSrdmaSetupKeys[] = {
    {"seed", 0, std::numeric_limits<std::uint64_t>::max(),
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.seed = v; }},
    {"source_first", 1, kMostPortNumber,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.ports.source.first = static_cast<std::uint16_t>(v); }},
    {"source_last", 1, kMostPortNumber,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.ports.source.last = static_cast<std::uint16_t>(v); }},
    {"destination_first", 1, kMostPortNumber,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) {
       e.ports.destination.first = static_cast<std::uint16_t>(v);
     }},
    {"destination_last", 1, kMostPortNumber,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) {
       e.ports.destination.last = static_cast<std::uint16_t>(v);
     }},
    {"quarantine_ns", 0, kMostSrdmaNs,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.ports.quarantine = srdma_ns(v); }},
    {"max_groups", 1, 1024,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) {
       e.sessions.max_groups = static_cast<std::uint32_t>(v);
     }},
    {"max_sessions", 1, kMostGroupSessions,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.sessions.max_sessions = static_cast<unsigned>(v); }},
    {"min_sessions", 0, kMostGroupSessions,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.sessions.min_sessions = static_cast<unsigned>(v); }},
    {"max_qps", 1, kMostCmPairs,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.sessions.max_pairs = static_cast<std::uint32_t>(v); }},
    {"drain_timeout_ns", 1, kMostSrdmaNs,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.sessions.drain_timeout = srdma_ns(v); }},
    {"down_timeout_ns", 1, kMostSrdmaNs,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.sessions.down_timeout = srdma_ns(v); }},
    {"down_is_error", 0, 1,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.sessions.fails_at_once = v != 0; }},
    {"secured", 0, 1,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.sessions.credentials.is_secured = v != 0; }},
    {"lifetime_us", 1, kMostSrdmaUs,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.sessions.credentials.lifetime = srdma_us(v); }},
    {"refresh_margin_us", 0, kMostSrdmaUs,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.sessions.credentials.refresh_margin = srdma_us(v); }},
    {"grace_us", 0, kMostSrdmaUs,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.sessions.credentials.grace = srdma_us(v); }},
    {"max_packets", 1, std::numeric_limits<std::uint64_t>::max(),
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.sessions.credentials.max_packets = v; }},
    {"software_rekey", 0, 1,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) {
       e.sessions.credentials.engine = v != 0 ? RekeyEngine::kSoftware : RekeyEngine::kHardware;
     }},
    {"software_delay_us", 0, kMostSrdmaUs,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.sessions.credentials.software_delay = srdma_us(v); }},
    {"replace_on_expiry", 0, 1,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.sessions.credentials.replaces_on_expiry = v != 0; }},
    {"cm_plain", 0, 1, [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.channel.is_plain = v != 0; }},
    {"cm_port", 1, kMostPortNumber,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.channel.port = static_cast<std::uint16_t>(v); }},
    {"cm_key", 0, 0xff,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) {
       e.channel.provisioned.fill(static_cast<std::uint8_t>(v));
     }},
    {"cm_timeout_ns", 1000, kMostSrdmaNs,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.manager.timeout = srdma_ns(v); }},
    {"cm_retries", 0, 15,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.manager.retries = static_cast<unsigned>(v); }},
    {"gap_timer_ns", 0, kMostSrdmaNs,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.manager.gap_timer = srdma_ns(v); }},
    {"echo", 0, 1,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.manager.capabilities.has_echo = v != 0; }},
    {"needs_echo", 0, 1,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.manager.capabilities.needs_echo = v != 0; }},
    {"sack", 0, 1,
     [](SrdmaKeyEnd& e, SrdmaKeyValue v) { e.manager.capabilities.has_sack = v != 0; }},
    {"reorder_depth", 0, kMostPortNumber,
     [](SrdmaKeyEnd& e,
        SrdmaKeyValue v) { e.manager.capabilities.reorder_depth = static_cast<std::uint16_t>(v); }},
    {"mtu", 256, 4096, [](SrdmaKeyEnd& e, SrdmaKeyValue v) {
       e.manager.capabilities.mtu = static_cast<std::uint16_t>(v);
     }}};

// One value for both ends, or a list of two.
void read_srdma_key(JsonReader& in, const SrdmaSetupKey& key, SrdmaScriptSetup& setup) {
  in.field(key.name, [&](const Json& value) -> Complaint {
    if (value.is_array() && value.size() != 2) {
      return json_value::shown(value) + " seen; expected one value, or two of the ends 0 and 1";
    }
    Complaint complaint;
    for (unsigned end = 0; end < 2 && complaint.empty(); ++end) {
      const Json& one = value.is_array() ? value[end] : value;
      std::uint64_t number = 0;
      bool flag = false;
      complaint = key.most == 1 ? json_value::read_bool(one, flag)
                                : json_value::read_number(one, key.least, key.most, number);
      if (complaint.empty()) {
        key.set(setup.ends[end], key.most == 1 ? (flag ? 1 : 0) : number);
      }
    }
    return complaint;
  });
}

void read_srdma_setup(JsonReader& in, SrdmaScriptSetup& setup) {
  constexpr std::uint32_t kFirstAddress = 0x0a000001;
  for (unsigned end = 0; end < 2; ++end) {
    setup.ends[end].address = kFirstAddress + end;
    setup.ends[end].channel.provisioned.fill(1);
  }
  for (const SrdmaSetupKey& key : kSrdmaSetupKeys) {
    read_srdma_key(in, key, setup);
  }
  std::uint64_t latency = 5000;
  in.number("latency_ns", 1000, kMostSrdmaNs, latency);
  setup.latency = srdma_ns(latency);
  for (const SrdmaEndSetup& end : setup.ends) {
    const std::string flaw = flaw_of(end.sessions.credentials);
    if (!flaw.empty()) {
      in.complain("lifetime_us", flaw);
      break;
    }
    if (end.ports.source.size() == 0 || end.ports.destination.size() == 0) {
      in.complain("source_first",
                  "an empty range of ports seen; expected the first one up to the "
                  "last one");
      break;
    }
  }
}

void read_srdma_connect(JsonReader& in, ConnectRequest& request) {
  request.service = 1;
  std::uint64_t paths = 1;
  in.number("service", 0, std::numeric_limits<std::uint64_t>::max(), request.service);
  in.number("sessions", 0, kMostGroupSessions, request.sessions);
  in.number("paths", 1, 16, paths);
  request.paths.resize(static_cast<std::size_t>(paths));
  in.field("qps", [&](const Json& value) -> Complaint {
    bool is_good = value.is_array() && value.size() <= kMostCmPairs;
    for (std::size_t i = 0; is_good && i < value.size(); ++i) {
      std::uint64_t number = 0;
      is_good = json_value::read_number(value[i], 1, kMostQpNumber, number).empty();
      request.pairs.push_back({static_cast<std::uint32_t>(number), 0});
    }
    return is_good ? "" : json_value::shown(value) + " seen; expected numbers of queue pairs";
  });
}

void read_srdma_fields(JsonReader& in, SrdmaFrameFields& fields) {
  in.number("src", 0, kMost32Bits, fields.source);
  in.number("dst", 0, kMost32Bits, fields.destination);
  in.number("ttl", 0, 255, fields.ttl);
  in.number("ecn", 0, 3, fields.ecn);
  in.number("src_port", 0, kMostPortNumber, fields.source_port);
  in.number("dst_port", 0, kMostPortNumber, fields.destination_port);
  in.number("udp_length", 0, kMostPortNumber, fields.udp_length);
  in.number("opcode", 0, 255, fields.opcode);
  in.number("tver", 0, 15, fields.version);
  in.number("dest_qp", 0, kMostQpNumber, fields.pair);
  in.number("psn", 0, kMostQpNumber, fields.psn);
  in.flag("seal", fields.seals);
  in.flag("secured", fields.is_secured);
}

Complaint read_cm_kind(const Json& value, CmKind& kind) {
  std::vector<std::string> names;
  for (int i = 1; i <= kCmKinds; ++i) {
    names.emplace_back(name_of(static_cast<CmKind>(i)));
  }
  std::size_t place = 0;
  Complaint complaint = json_value::read_word(value, names, place);
  kind = static_cast<CmKind>(place + 1);
  return complaint;
}

Complaint read_srdma_argument(SrdmaArgument argument, const Json& value, SrdmaLine& line) {
  const auto number = [&](std::uint64_t most) {
    return json_value::read_number(value, 0, most, line.numbers.emplace_back());
  };
  const auto place = [&](std::uint64_t most, auto& out) {
    std::uint64_t read = 0;
    Complaint complaint = json_value::read_number(value, 0, most, read);
    out = static_cast<std::decay_t<decltype(out)>>(read);
    return complaint;
  };
  switch (argument) {
    case SrdmaArgument::kSetup:
      return complaint_within(value, [&](JsonReader& in) { read_srdma_setup(in, line.setup); });
    case SrdmaArgument::kEnd: return place(1, line.end);
    case SrdmaArgument::kGroup: return place(1023, line.group);
    case SrdmaArgument::kSession: return place(kMostPortNumber, line.session);
    case SrdmaArgument::kQpn: return number(kMostQpNumber);
    case SrdmaArgument::kPort: return number(kMostPortNumber);
    case SrdmaArgument::kNumber: return number(kMost32Bits);
    case SrdmaArgument::kFlag: {
      bool flag = false;
      Complaint complaint = json_value::read_bool(value, flag);
      line.numbers.push_back(flag ? 1 : 0);
      return complaint;
    }
    case SrdmaArgument::kKind: return read_cm_kind(value, line.kind);
    case SrdmaArgument::kConnect:
      return complaint_within(value, [&](JsonReader& in) { read_srdma_connect(in, line.connect); });
    case SrdmaArgument::kFields:
      return complaint_within(value, [&](JsonReader& in) { read_srdma_fields(in, line.fields); });
  }
  return {};
}

}  // namespace

bool begins_srdma(const Json& array) {
  return !array.empty() && array.front() == "srdma";
}

SrdmaLine parse_srdma_line(const Json& array, int number) {
  SrdmaLine line;
  line.verb = &verb_of_array(array, srdma_verbs(), number);
  read_arguments(
      array, *line.verb, number,
      [](SrdmaArgument argument) {
        return kSrdmaArgumentNames[static_cast<std::size_t>(argument)];
      },
      [&](SrdmaArgument argument, const Json& value) {
        return read_srdma_argument(argument, value, line);
      });
  return line;
}

}  // namespace flitwise
