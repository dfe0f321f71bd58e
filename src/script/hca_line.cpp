// SPDX-License-Identifier: Apache-2.0
#include "script/hca_line.h"

#include <limits>

#include "common/page.h"
#include "script/array_line.h"

namespace flitwise {
namespace {

constexpr const char* kHcaArgumentNames[] = {"{setup}", "function", "structure", "qpn",    "number",
                                             "address", "bytes",    "flag",      "rights", "pasid"};
constexpr std::uint64_t kMostFunctions = 256, kMostQpEntries = 65536, kMostEpsRequests = 1024;
constexpr std::uint64_t kMostRetryNs = 1'000'000'000;

// A power of two of bytes, from a page of 4 KiB on, by its logarithm.
template <class Bits>
Complaint read_page_bits(const Json& value, Bits& bits) {
  std::uint64_t bytes = 0;
  Complaint complaint = json_value::read_number(value, 0, std::uint64_t{1} << 63, bytes);
  if (complaint.empty() && (bytes < kPageBytes || (bytes & (bytes - 1)) != 0)) {
    complaint = json_value::shown(value) + " seen; expected a power of two from 4096 on";
  }
  for (bits = kSmallestRangeBits; complaint.empty() && bytes >> bits != 1;) {
    ++bits;
  }
  return complaint;
}

Complaint read_pasid(const Json& value, OptionalId<Pasid>& pasid) {
  if (value == "none") {
    pasid.reset();
    return {};
  }
  std::uint64_t number = 0;
  Complaint complaint = json_value::read_number(value, 0, (1U << kPasidBits) - 1, number);
  pasid = static_cast<Pasid>(number);
  return complaint;
}

// One value for all functions, or a list with one for each.
template <class Take>
void read_of_functions(JsonReader& in, const char* key, PretranslationSetup& setup, Take take) {
  in.field(key, [&](const Json& value) -> Complaint {
    if (value.is_array() && value.size() != setup.functions.size()) {
      return fmt::format("{} values seen; expected one, or one for each of {} functions",
                         value.size(), setup.functions.size());
    }
    Complaint complaint;
    for (std::size_t i = 0; i < setup.functions.size() && complaint.empty(); ++i) {
      complaint = take(value.is_array() ? value[i] : value, setup.functions[i]);
    }
    return complaint;
  });
}

void read_hca_setup(JsonReader& in, HcaScriptSetup& setup) {
  PretranslationSetup& eps = setup.pretranslation;
  std::uint64_t functions = 2;
  in.number("functions", 1, kMostFunctions, functions);
  eps.functions.resize(functions);
  in.number("entries", 1, kMostQpEntries, setup.entries);
  in.number("ways", 0, kMostQpEntries, setup.ways);
  if (setup.ways != 0 && setup.entries % setup.ways != 0) {
    in.complain("ways", fmt::format("{} seen; expected a divisor of the {} entries, or 0: as many",
                                    setup.ways, setup.entries));
  }
  read_of_functions(in, "page", eps, [](const Json& value, PretranslationSetup::Function& one) {
    return read_page_bits(value, one.page_bits);
  });
  read_of_functions(in, "pasid", eps, [](const Json& value, PretranslationSetup::Function& one) {
    return read_pasid(value, one.pasid);
  });
  eps.clears = in.word("mode", {"restore", "clear"}) == 1;
  in.flag("retranslate", eps.retranslates);
  std::uint64_t first = 10'000, longest = 1'000'000;
  in.number("retry_ns", 1, kMostRetryNs, first);
  in.number("most_retry_ns", 1, kMostRetryNs, longest);
  if (longest < first) {
    in.complain("most_retry_ns",
                fmt::format("{} seen; expected at least retry_ns, which is {}", longest, first));
  }
  eps.first_retry = Time::from_ns(static_cast<std::int64_t>(first));
  eps.longest_retry = Time::from_ns(static_cast<std::int64_t>(longest));
  in.number("requests", 1, kMostEpsRequests, eps.requests);
  in.flag("start", setup.starts);
}

Complaint read_rights(const Json& value, HcaLine& line) {
  std::size_t place = 0;
  Complaint complaint = json_value::read_word(value, {"none", "r", "w", "rw"}, place);
  line.reads = (place & 1U) != 0;
  line.writes = (place & 2U) != 0;
  return complaint;
}

Complaint read_structure(const Json& value, StaticStructure& structure) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < kStaticStructures; ++i) {
    names.emplace_back(name_of(static_cast<StaticStructure>(i)));
  }
  std::size_t place = 0;
  Complaint complaint = json_value::read_word(value, names, place);
  structure = static_cast<StaticStructure>(place);
  return complaint;
}

Complaint read_hca_argument(HcaArgument argument, const Json& value, HcaLine& line) {
  const auto number = [&](std::uint64_t most) {
    return json_value::read_number(value, 0, most, line.numbers.emplace_back());
  };
  switch (argument) {
    case HcaArgument::kSetup:
      return complaint_within(value, [&](JsonReader& in) { read_hca_setup(in, line.setup); });
    case HcaArgument::kFunction: {
      std::uint64_t function = 0;
      Complaint complaint = json_value::read_number(value, 0, kMostFunctions - 1, function);
      line.function = static_cast<std::uint32_t>(function);
      return complaint;
    }
    case HcaArgument::kStructure: return read_structure(value, line.structure);
    case HcaArgument::kQpn: return number(0xffffff);
    case HcaArgument::kNumber: return number(std::numeric_limits<std::uint32_t>::max());
    case HcaArgument::kAddress: return number(std::numeric_limits<std::uint64_t>::max());
    case HcaArgument::kRange: return read_page_bits(value, line.range_bits);
    case HcaArgument::kFlag: {
      bool flag = false;
      Complaint complaint = json_value::read_bool(value, flag);
      line.numbers.push_back(flag ? 1 : 0);
      return complaint;
    }
    case HcaArgument::kRights: return read_rights(value, line);
    case HcaArgument::kPasids:
      line.scope.all_pasids = value == "all";
      return line.scope.all_pasids ? "" : read_pasid(value, line.scope.pasid);
  }
  return {};
}

}  // namespace

bool begins_hca(const Json& array) {
  return !array.empty() && array.front() == "hca";
}

HcaLine parse_hca_line(const Json& array, int number) {
  HcaLine line;
  line.verb = &verb_of_array(array, hca_verbs(), number);
  read_arguments(
      array, *line.verb, number,
      [](HcaArgument argument) { return kHcaArgumentNames[static_cast<std::size_t>(argument)]; },
      [&](HcaArgument argument, const Json& value) {
        return read_hca_argument(argument, value, line);
      });
  return line;
}

}  // namespace flitwise
