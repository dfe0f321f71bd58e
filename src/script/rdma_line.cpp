// SPDX-License-Identifier: Apache-2.0
#include "script/rdma_line.h"

#include <limits>

#include "script/array_line.h"
#include "script/rdma_fields.h"

namespace flitwise {
namespace {

constexpr const char* kRdmaArgumentNames[] = {"{setup}", "end",      "number",   "address",
                                              "hex",     "flag",     "rights",   "state",
                                              "{work}",  "{buffer}", "{packet}", "session"};

Complaint read_state(const Json& value, QpState& state) {
  std::vector<std::string> names;
  for (int i = 0; i < kQpStates; ++i) {
    names.emplace_back(name_of(static_cast<QpState>(i)));
  }
  std::size_t place = 0;
  Complaint complaint = json_value::read_word(value, names, place);
  state = static_cast<QpState>(place);
  return complaint;
}

Complaint read_rdma_argument(RdmaArgument argument, const Json& value, RdmaLine& line) {
  const auto number = [&](std::uint64_t most) {
    return json_value::read_number(value, 0, most, line.numbers.emplace_back());
  };
  switch (argument) {
    case RdmaArgument::kSetup:
      return complaint_within(value, [&](JsonReader& in) { read_rdma_setup(in, line); });
    case RdmaArgument::kEnd: {
      std::uint64_t end = 0;
      Complaint complaint = json_value::read_number(value, 0, 1, end);
      line.end = static_cast<unsigned>(end);
      return complaint;
    }
    case RdmaArgument::kNumber: return number(std::numeric_limits<std::uint32_t>::max());
    case RdmaArgument::kAddress: return number(std::numeric_limits<std::uint64_t>::max());
    case RdmaArgument::kBytes: return json_value::read_bytes(value, line.bytes);
    case RdmaArgument::kFlag: {
      bool flag = false;
      Complaint complaint = json_value::read_bool(value, flag);
      line.numbers.push_back(flag ? 1 : 0);
      return complaint;
    }
    case RdmaArgument::kRights: {
      std::uint8_t rights = 0;
      Complaint complaint = read_rdma_rights(value, rights);
      line.numbers.push_back(rights);
      return complaint;
    }
    case RdmaArgument::kSession: return number(kNoSession - 1);
    case RdmaArgument::kState: return read_state(value, line.state);
    case RdmaArgument::kSend:
      return complaint_within(value, [&](JsonReader& in) { read_rdma_send(in, line.send); });
    case RdmaArgument::kReceive:
      return complaint_within(value, [&](JsonReader& in) { read_rdma_receive(in, line.receive); });
    case RdmaArgument::kPacket:
      return complaint_within(
          value, [&](JsonReader& in) { read_rdma_packet(in, line.packet, line.names_pair); });
  }
  return {};
}

}  // namespace

bool begins_rdma(const Json& array) {
  return !array.empty() && array.front() == "rdma";
}

RdmaLine parse_rdma_line(const Json& array, int number) {
  RdmaLine line;
  line.verb = &verb_of_array(array, rdma_verbs(), number);
  read_arguments(
      array, *line.verb, number,
      [](RdmaArgument argument) { return kRdmaArgumentNames[static_cast<std::size_t>(argument)]; },
      [&](RdmaArgument argument, const Json& value) {
        return read_rdma_argument(argument, value, line);
      });
  return line;
}

}  // namespace flitwise
