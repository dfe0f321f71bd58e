// SPDX-License-Identifier: Apache-2.0
#include "script/pio_line.h"

#include <fmt/format.h>

#include <limits>

#include "pio/send_window.h"
#include "script/array_line.h"

namespace flitwise {
namespace {

using ArgumentKind = PioArgument::Kind;

constexpr std::uint64_t kAnyAddress = std::numeric_limits<std::uint64_t>::max();

Complaint read_list(const PioArgument& argument, const Json& value, PioLine& line) {
  if (!value.is_array() || value.size() != argument.count) {
    return fmt::format("{} seen; expected a list of {} numbers from 0 to {}",
                       json_value::shown(value), argument.count, argument.most);
  }
  for (std::size_t i = 0; i < value.size(); ++i) {
    const Complaint complaint =
        json_value::read_number(value[i], 0, argument.most, line.numbers.emplace_back());
    if (!complaint.empty()) {
      return fmt::format("number {}: {}", i + 1, complaint);
    }
  }
  return {};
}

Complaint read_pairs(const PioArgument& argument, const Json& value, PioLine& line) {
  const std::size_t end = line.numbers.size() + 2 * argument.count;
  bool is_good = value.is_array() && value.size() <= argument.count;
  for (std::size_t i = 0; is_good && i < value.size(); ++i) {
    is_good =
        value[i].is_array() && value[i].size() == 2 &&
        json_value::read_number(value[i][0], 0, argument.most, line.numbers.emplace_back())
            .empty() &&
        json_value::read_number(value[i][1], 0, argument.most_second, line.numbers.emplace_back())
            .empty();
  }
  line.numbers.resize(end);
  return is_good ? ""
                 : fmt::format("{} seen; expected up to {} pairs such as [{}, {}]",
                               json_value::shown(value), argument.count, argument.most,
                               argument.most_second);
}

Complaint read_argument(const PioArgument& argument, const Json& value, PioLine& line) {
  if (argument.kind == ArgumentKind::kList) {
    return read_list(argument, value, line);
  }
  if (argument.kind == ArgumentKind::kPairs) {
    return read_pairs(argument, value, line);
  }
  if (argument.kind == ArgumentKind::kHex) {
    Complaint complaint = json_value::read_bytes(value, line.bytes);
    if (complaint.empty() && (line.bytes.empty() || line.bytes.size() > argument.most)) {
      complaint = fmt::format("{} bytes seen; expected 1 to {}", line.bytes.size(), argument.most);
    }
    return complaint;
  }
  if (argument.kind == ArgumentKind::kFlag) {
    bool flag = false;
    Complaint complaint = json_value::read_bool(value, flag);
    line.numbers.push_back(flag ? 1 : 0);
    return complaint;
  }
  std::uint64_t& number = line.numbers.emplace_back();
  if (argument.kind == ArgumentKind::kAddress) {
    Complaint complaint = json_value::read_number(value, 0, kAnyAddress, number);
    return complaint.empty() && number % kSendBlockBytes != 0
               ? json_value::hex_number(number) + " seen; expected a multiple of 64"
               : complaint;
  }
  Complaint complaint = json_value::read_number(value, argument.least, argument.most, number);
  if (argument.kind == ArgumentKind::kPower &&
      (!complaint.empty() || (number & (number - 1)) != 0)) {
    return fmt::format("{} seen; expected a power of two from {} to {}", json_value::shown(value),
                       argument.least, argument.most);
  }
  return complaint;
}

}  // namespace

const std::vector<PioVerb>& pio_verbs() {
  static const std::vector<PioVerb> kVerbs = [] {
    std::vector<PioVerb> verbs = pio_device_verbs();
    for (const std::vector<PioVerb>& more : {pio_host_verbs(), pio_sdma_verbs()}) {
      verbs.insert(verbs.end(), more.begin(), more.end());
    }
    return verbs;
  }();
  return kVerbs;
}

PioLine parse_pio_line(const Json& array, int number) {
  PioLine line;
  line.verb = &verb_of_array(array, pio_verbs(), number);
  read_arguments(
      array, *line.verb, number, [](const PioArgument& argument) { return argument.name; },
      [&](const PioArgument& argument, const Json& value) {
        return read_argument(argument, value, line);
      });
  return line;
}

}  // namespace flitwise
