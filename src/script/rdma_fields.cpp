// SPDX-License-Identifier: Apache-2.0
// Objects in lines of RDMA.
#include "script/rdma_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <sstream>
#include <type_traits>

#include "script/array_line.h"

namespace flitwise {
namespace {

constexpr std::uint64_t kMostWord = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMostHalf = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMostQueue = 4096;
constexpr std::size_t kRcOpcodes = 0x18;
constexpr std::uint64_t kMostSpan = 1'000'000'000;  // ns
constexpr std::uint64_t kMostRdmaMemory = std::uint64_t{1} << 24;
const char* const kRightNames[] = {"LW", "RR", "RW", "RA"};

template <class Word>
std::vector<std::string> all_names(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    names.emplace_back(name_of(static_cast<Word>(i)));
  }
  return names;
}

const std::vector<std::string>& opcode_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (unsigned i = 0; i < kRcOpcodes; ++i) {
      names.emplace_back(info_of(static_cast<RdmaOpcode>(i)).name);
    }
    names.emplace_back(info_of(RdmaOpcode::kCnp).name);
    return names;
  }();
  return kNames;
}

/// A list of two values, one for each end, or one for both.
template <class Take>
void read_both(JsonReader& in, const char* key, Take take) {
  in.field(key, [&](const Json& value) -> Complaint {
    if (value.is_array() && value.size() != 2) {
      return json_value::shown(value) + " seen; expected one value, or two of the ends 0 and 1";
    }
    Complaint complaint;
    for (unsigned end = 0; end < 2 && complaint.empty(); ++end) {
      complaint = take(value.is_array() ? value[end] : value, end);
    }
    return complaint;
  });
}

template <auto Member>
void set_of_pair(RdmaEndSetup& end, std::uint64_t value) {
  auto& member = end.pair.*Member;
  member = static_cast<std::decay_t<decltype(member)>>(value);
}
template <auto Member>
void set_of_time(RdmaEndSetup& end, std::uint64_t ns) {
  end.pair.*Member = Time::from_ns(static_cast<std::int64_t>(ns));
}
template <auto Member>
void set_of_end(RdmaEndSetup& end, std::uint64_t value) {
  end.*Member = value;
}
// A packet further ahead asks for a NAK, unless the next key says otherwise. [RX-3]
void set_of_window(RdmaEndSetup& end, std::uint64_t value) {
  end.pair.reorder_window = end.pair.nak_distance = static_cast<std::uint32_t>(value);
}
struct RdmaSetupKey {
  const char* name;
  std::uint64_t least, most;
  void (*set)(RdmaEndSetup& end, std::uint64_t value);
};
constexpr RdmaSetupKey kRdmaSetupKeys[] = {
    {"psn", 0, kPsnMask, set_of_pair<&QueuePairSetup::first_psn>},
    {"qpn", 1, kPsnMask, set_of_pair<&QueuePairSetup::number>},
    {"p_key", 0, 0xffff, set_of_pair<&QueuePairSetup::partition>},
    {"window", 1, kMostOutstandingPsns, set_of_pair<&QueuePairSetup::window>},
    {"sq", 1, kMostQueue, set_of_pair<&QueuePairSetup::send_depth>},
    {"rq", 1, kMostQueue, set_of_end<&RdmaEndSetup::receive_depth>},
    {"cq", 1, kMostQueue, set_of_end<&RdmaEndSetup::completion_depth>},
    {"max_rd_atomic", 1, 128, set_of_pair<&QueuePairSetup::most_reads_out>},
    {"retry_cnt", 0, 7, set_of_pair<&QueuePairSetup::retries>},
    {"rnr_retry", 0, 7, set_of_pair<&QueuePairSetup::rnr_retries>},
    {"rnr_timer", 0, 31, set_of_pair<&QueuePairSetup::rnr_time>},
    {"ack_every", 1, kMostQueue, set_of_pair<&QueuePairSetup::ack_every>},
    {"ack_every_session", 0, kMostQueue, set_of_pair<&QueuePairSetup::ack_every_session>},
    {"ack_delay_ns", 1, kMostSpan, set_of_time<&QueuePairSetup::ack_delay>},
    {"ooo_window", 1, kMostQueue, set_of_window},
    {"ooo_nak_threshold", 1, kMostQueue, set_of_pair<&QueuePairSetup::nak_distance>},
    {"gap_timer_ns", 1000, kMostSpan, set_of_time<&QueuePairSetup::gap_time>},
    {"cnp_interval_ns", 1, kMostSpan, set_of_time<&QueuePairSetup::cnp_interval>},
    {"memory", 1, kMostRdmaMemory, set_of_end<&RdmaEndSetup::memory_bytes>}};

// One piece by its own keys, or several as a list of [address, bytes, key].
void read_rdma_view(JsonReader& in, MemoryView& view) {
  Sge piece;
  in.number("address", 0, kMostWord, piece.address);
  in.number("bytes", 0, kMostHalf, piece.bytes);
  in.number("key", 0, kMostHalf, piece.key);
  view = view_of(piece);
  in.field("pieces", [&](const Json& value) -> Complaint {
    bool is_good = value.is_array() && value.size() <= MemoryView::kMost;
    view.count = 0;
    for (std::size_t i = 0; is_good && i < value.size(); ++i) {
      std::uint64_t numbers[3] = {};
      is_good = value[i].is_array() && value[i].size() == 3;
      for (unsigned j = 0; is_good && j < 3; ++j) {
        is_good =
            json_value::read_number(value[i][j], 0, j == 0 ? kMostWord : kMostHalf, numbers[j])
                .empty();
      }
      view.pieces[view.count++] = {numbers[0], static_cast<std::uint32_t>(numbers[1]),
                                   static_cast<std::uint32_t>(numbers[2])};
    }
    return is_good ? ""
                   : json_value::shown(value) + " seen; expected up to 4 [address, bytes, key]";
  });
}

// What both ends have agreed on. [RX-2, 6] [LR-1, 2] [MO-1] [CC-4]
void read_agreement(JsonReader& in, std::array<RdmaEndSetup, 2>& ends) {
  static const std::vector<std::string> kModes = all_names<ReceiveMode>(kReceiveModes);
  static const std::vector<std::string> kWays = all_names<Recovery>(kRecoveries);
  static const std::vector<std::string> kRates = {"none", "dcqcn_qp", "dcqcn_session"};
  QueuePairSetup agreed;
  agreed.mode = static_cast<ReceiveMode>(in.word("mode", kModes));
  agreed.recovery = agreed.keeps_order() ? Recovery::kGoBackN : Recovery::kSelective;
  std::optional<Recovery> recovery;
  in.word("recovery", kWays, recovery);
  agreed.recovery = recovery.value_or(agreed.recovery);
  in.flag("echo", agreed.has_echo);
  in.flag("sack", agreed.has_sack);
  in.flag("echo_holes", agreed.finds_holes);
  agreed.cnp = static_cast<CnpMode>(in.word("cc", kRates));
  if (agreed.keeps_order() && agreed.is_selective()) {
    in.complain("recovery",
                "\"selective\" seen; expected \"go_back_n\" with mode \"in_order\", "
                "or mode \"reorder\" or \"ddp\"");
  }
  if (agreed.keeps_order() && agreed.has_sack) {
    in.complain("sack",
                "true seen; expected false with mode \"in_order\", which keeps nothing, or "
                "mode \"reorder\" or \"ddp\"");
  }
  if (agreed.finds_holes && !(agreed.has_echo && agreed.is_selective())) {
    in.complain("echo_holes", "true seen; expected false, or echo true and recovery \"selective\"");
  }
  for (RdmaEndSetup& end : ends) {
    end.pair.mode = agreed.mode;
    end.pair.recovery = agreed.recovery;
    end.pair.has_echo = agreed.has_echo;
    end.pair.has_sack = agreed.has_sack;
    end.pair.finds_holes = agreed.finds_holes;
    end.pair.cnp = agreed.cnp;
    end.pair.keeps_sent = true;
  }
}

// Of one that is forged.
Complaint read_echo(const Json& value, RdmaPacket& fields) {
  fields.has_echo = true;
  return complaint_within(value, [&](JsonReader& in) {
    in.number("session", 0, 0xffff, fields.echo.session);
    in.number("psn", 0, kPsnMask, fields.echo.psn);
    in.number("hold_ns", 0, kMostHalf, fields.echo.hold_ns);
    in.flag("ce", fields.echo.is_marked);
  });
}

}  // namespace

Complaint read_rdma_rights(const Json& value, std::uint8_t& rights) {
  std::istringstream words(value.is_string() ? value.get<std::string>() : "?");
  std::string word;
  rights = 0;
  while (words >> word) {
    const auto* const name = std::find(std::begin(kRightNames), std::end(kRightNames), word);
    if (name == std::end(kRightNames)) {
      return json_value::shown(value) + " seen; expected words of LW, RR, RW and RA";
    }
    rights |= static_cast<std::uint8_t>(1U << (name - std::begin(kRightNames)));
  }
  return {};
}

void read_rdma_setup(JsonReader& in, RdmaLine& line) {
  std::array<RdmaEndSetup, 2>& ends = line.setup;
  for (unsigned end = 0; end < 2; ++end) {
    ends[end].pair.number = 0x11 + end;
    ends[end].pair.rights = kRemoteRead | kRemoteWrite | kRemoteAtomic;
  }
  std::uint64_t mtu = 1024;
  in.field("mtu", [&](const Json& value) {
    Complaint complaint = json_value::read_number(value, 256, 4096, mtu);
    return complaint.empty() && (mtu & (mtu - 1)) != 0
               ? fmt::format("{} seen; expected 256, 512, 1024, 2048 or 4096", mtu)
               : complaint;
  });
  for (const RdmaSetupKey& key : kRdmaSetupKeys) {
    read_both(in, key.name, [&](const Json& value, unsigned end) {
      std::uint64_t number = 0;
      Complaint complaint = json_value::read_number(value, key.least, key.most, number);
      if (complaint.empty()) {
        key.set(ends[end], number);
      }
      return complaint;
    });
  }
  read_both(in, "access", [&](const Json& value, unsigned end) {
    return read_rdma_rights(value, ends[end].pair.rights);
  });
  read_both(in, "srq", [&](const Json& value, unsigned end) {
    return json_value::read_bool(value, ends[end].shares_buffers);
  });
  read_agreement(in, ends);
  in.number("sessions", 1, 64, line.sessions);
  in.flag("connect", line.connects);
  for (unsigned end = 0; end < 2; ++end) {
    QueuePairSetup& pair = ends[end].pair;
    pair.mtu = static_cast<std::uint32_t>(mtu);
    pair.peer = ends[1 - end].pair.number;
    pair.peer_first_psn = ends[1 - end].pair.first_psn;
    pair.most_reads_taken = ends[1 - end].pair.most_reads_out;
  }
}

void read_rdma_send(JsonReader& in, SendWork& work) {
  static const std::vector<std::string> kNames = all_names<WorkOpcode>(kWorkOpcodes);
  work.is_signaled = true;
  in.number("id", 0, kMostWord, work.id);
  work.opcode = static_cast<WorkOpcode>(in.word("op", kNames));
  read_rdma_view(in, work.local);
  in.number("remote", 0, kMostWord, work.remote_address);
  in.number("rkey", 0, kMostHalf, work.remote_key);
  in.number("imm", 0, kMostHalf, work.immediate);
  in.number("operand", 0, kMostWord, work.operand);
  in.number("compare", 0, kMostWord, work.compare);
  in.flag("signaled", work.is_signaled);
  in.flag("solicited", work.is_solicited);
  in.flag("fence", work.is_fenced);
}

void read_rdma_packet(JsonReader& in, RdmaWirePacket& packet, bool& names_pair) {
  RdmaPacket& fields = packet.fields;
  in.field("opcode", [&](const Json& value) {
    std::uint64_t number = 0;
    Complaint complaint = json_value::read_number(value, 0, 255, number);
    if (!complaint.empty()) {
      std::size_t place = 0;
      complaint = json_value::read_word(value, opcode_names(), place);
      number = place < kRcOpcodes ? place : static_cast<unsigned>(RdmaOpcode::kCnp);
    }
    fields.opcode = static_cast<RdmaOpcode>(number);
    return complaint;
  });
  in.number("tver", 0, 15, fields.version);
  in.number("p_key", 0, 0xffff, fields.partition);
  std::optional<std::uint64_t> pair;
  in.number("qpn", 0, kPsnMask, pair);
  names_pair = pair.has_value();
  fields.queue_pair = static_cast<std::uint32_t>(pair.value_or(0));
  in.number("psn", 0, kPsnMask, fields.psn);
  in.flag("ack_req", fields.asks_for_ack);
  in.number("va", 0, kMostWord, fields.address);
  in.number("rkey", 0, kMostHalf, fields.key);
  in.number("length", 0, kMostHalf, fields.length);
  in.number("operand", 0, kMostWord, fields.operand);
  in.number("compare", 0, kMostWord, fields.compare);
  in.number("original", 0, kMostWord, fields.original);
  in.number("imm", 0, kMostHalf, fields.immediate);
  in.number("syndrome", 0, 255, fields.syndrome);
  in.number("msn", 0, kPsnMask, fields.messages);
  in.number("session", 0, kNoSession - 1, fields.session);
  in.flag("ce", fields.is_marked);
  in.flag("names_place", fields.names_place);
  in.field("echo", [&](const Json& value) { return read_echo(value, fields); });
  fields.has_sack = in.has("sack");
  in.number("sack", 0, kMostWord, fields.sack);
  std::uint64_t filler = 0;
  in.number("bytes", 0, kMostQueue, filler);
  packet.bytes.assign(filler, 0xee);
  in.hex("hex", packet.bytes);
  fields.payload_bytes = static_cast<std::uint32_t>(packet.bytes.size());
  fields.pad = pad_of(fields.payload_bytes);
  in.number("pad", 0, 3, fields.pad);
}

void read_rdma_receive(JsonReader& in, ReceiveWork& work) {
  in.number("id", 0, kMostWord, work.id);
  read_rdma_view(in, work.local);
}

}  // namespace flitwise
