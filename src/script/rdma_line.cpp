// SPDX-License-Identifier: Apache-2.0
#include "script/rdma_line.h"

#include <fmt/format.h>

#include <limits>

#include "common/problems.h"
#include "common/ranges.h"
#include "script/rdma_fields.h"

namespace flitwise {
namespace {

constexpr const char* kRdmaArgumentNames[] = {"{setup}", "end",      "number",  "address",
                                              "hex",     "flag",     "rights",  "state",
                                              "{work}",  "{buffer}", "{packet}"};

const RdmaVerb& rdma_verb_of(const Json& array, int line) {
  const std::vector<RdmaVerb>& verbs = rdma_verbs();
  const bool is_given = !array.empty() && array.front().is_string();
  const std::string name = is_given ? array.front().get<std::string>() : "";
  if (const RdmaVerb* const verb =
          find_where(verbs, [&](const RdmaVerb& one) { return is_given && one.name == name; })) {
    return *verb;
  }
  const std::vector<std::string> names = mapped(verbs, &RdmaVerb::name);
  refuse({"script", line, {}}, "",
         (is_given ? "unknown verb '" + name + "'" : "no verb") + "; expected " +
             config::alternatives(names) +
             (is_given ? config::nearest_hint(name, names, "verb") : ""));
}

// What is wrong inside of an object, as one complaint.
template <class Read>
Complaint within(const Json& value, Read read) {
  try {
    JsonReader in(value, {"script", 0, {}});
    read(in);
    in.finish();
  } catch (const ConfigError& error) {
    return config::summary_of(error);
  }
  return {};
}

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
      return within(value, [&](JsonReader& in) { read_rdma_setup(in, line.setup, line.connects); });
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
    case RdmaArgument::kState: return read_state(value, line.state);
    case RdmaArgument::kSend:
      return within(value, [&](JsonReader& in) { read_rdma_send(in, line.send); });
    case RdmaArgument::kReceive:
      return within(value, [&](JsonReader& in) { read_rdma_receive(in, line.receive); });
    case RdmaArgument::kPacket:
      return within(value, [&](JsonReader& in) { read_rdma_packet(in, line.packet); });
  }
  return {};
}

}  // namespace

bool begins_rdma(const Json& array) {
  return !array.empty() && array.front() == "rdma";
}

RdmaLine parse_rdma_line(const Json& array, int number) {
  RdmaLine line;
  line.verb = &rdma_verb_of(array, number);
  const std::vector<RdmaArgument>& arguments = line.verb->arguments;
  const JsonSource source{"script", number, {}};
  const auto name = [](RdmaArgument argument) {
    return kRdmaArgumentNames[static_cast<std::size_t>(argument)];
  };
  if (array.size() != arguments.size() + 1) {
    std::string usage = fmt::format("[\"{}\"", line.verb->name);
    for (const RdmaArgument argument : arguments) {
      usage += fmt::format(", {}", name(argument));
    }
    refuse(source, line.verb->name,
           fmt::format("{} arguments seen; expected {}]", array.size() - 1, usage));
  }
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Complaint complaint = read_rdma_argument(arguments[i], array[i + 1], line);
    if (!complaint.empty()) {
      problems.push_back(
          source.problem(fmt::format("{}.{}", line.verb->name, name(arguments[i])), complaint));
    }
  }
  if (!problems.empty()) {
    throw ConfigError(problems);
  }
  return line;
}

}  // namespace flitwise
