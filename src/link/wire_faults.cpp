// SPDX-License-Identifier: Apache-2.0
// Faults of one wire.
#include "link/wire_faults.h"

#include <array>
#include <boost/range/algorithm_ext/erase.hpp>

#include "common/ranges.h"
#include "tlp/dllp_codec.h"

namespace flitwise {
namespace {

constexpr std::array<const char*, kFcClasses> kClassNames = {"P", "NP", "Cpl"};
constexpr std::array<DllpType, 3> kFlowControl = {DllpType::kInitFc1, DllpType::kInitFc2,
                                                  DllpType::kUpdateFc};

struct Word {
  std::string text;
  UnitFilter filter;
};

const std::vector<Word>& words() {
  static const std::vector<Word> all = [] {
    std::vector<Word> list = {{"any", {}},
                              {"tlp", {false, false, {}, {}, {}}},
                              {"dllp", {false, true, {}, {}, {}}},
                              {"flit", {true, {}, {}, {}, {}}}};
    for (int i = 0; i < kTlpTypes; ++i) {
      list.push_back(
          {name_of(static_cast<TlpType>(i)), {false, false, static_cast<TlpType>(i), {}, {}}});
    }
    for (int i = 0; i < kDllpTypesInFlits; ++i) {
      list.push_back(
          {name_of(static_cast<DllpType>(i)), {false, true, {}, static_cast<DllpType>(i), {}}});
    }
    for (const DllpType type : kFlowControl) {
      for (std::size_t c = 0; c < kClassNames.size(); ++c) {
        list.push_back({std::string(name_of(type)) + "-" + kClassNames[c],
                        {false, true, {}, type, static_cast<FcClass>(c)}});
      }
    }
    return list;
  }();
  return all;
}

}  // namespace

bool UnitFilter::matches(const WireUnit& unit) const {
  if (!unit.is_flit()) {
    return !is_flit && matches(*unit.packet);
  }
  const bool is_any = !is_dllp && !tlp && !dllp;
  const std::vector<FlitPart>& parts = unit.packet->flit->parts;
  if (!parts.empty()) {
    return is_any || any_of(parts, [this](const FlitPart& part) {
             return part.begins && matches(*part.packet);
           });
  }
  return is_any || (unit.ack && matches(*unit.ack)) || (unit.dllp && matches(*unit.dllp)) ||
         any_of(unit.packet->flit->starts, [this](const PacketRef& one) { return matches(*one); });
}

bool UnitFilter::matches(const Packet& packet) const {
  if (packet.kind == PacketKind::kCxl) {
    return false;  // struck by flits
  }
  const bool is_one = packet.kind == PacketKind::kDllp;
  return (!is_dllp || *is_dllp == is_one) && (!tlp || packet.tlp.type == *tlp) &&
         (!dllp || packet.dllp.type == *dllp) && (!fc_class || packet.dllp.fc_class == *fc_class);
}

std::optional<UnitFilter> read_unit_filter(const std::string& word) {
  const auto found = find_if(words(), [&](const Word& one) { return one.text == word; });
  return found == words().end() ? std::nullopt : std::optional(found->filter);
}

std::vector<std::string> unit_filter_words() {
  return mapped(words(), &Word::text);
}

Strike WireFaults::strike(const WireUnit& unit) {
  Strike strike;
  for (Armed& armed : faults_) {
    const WireFault& fault = armed.fault;
    if (!fault.unit.matches(unit)) {
      continue;
    }
    ++armed.seen;
    if (armed.seen < fault.nth || armed.seen >= fault.nth + fault.count) {
      continue;
    }
    strike.is_damaged |= fault.action == WireFault::Action::kCorrupt;
    strike.is_lost |= fault.action == WireFault::Action::kDrop;
    strike.is_doubled |= fault.action == WireFault::Action::kDuplicate;
    strike.delay += fault.action == WireFault::Action::kDelay ? fault.by : Time{};
  }
  boost::range::remove_erase_if(faults_, [](const Armed& armed) { return armed.is_spent(); });
  return strike;
}

void WireFaults::missed(std::vector<MissedFault>& list) const {
  for (const Armed& armed : faults_) {
    if (!armed.fault.may_miss) {
      const std::uint64_t before = armed.fault.nth - 1;
      list.push_back({armed.fault, armed.seen > before ? armed.seen - before : 0});
    }
  }
}

}  // namespace flitwise
