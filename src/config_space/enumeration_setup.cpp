// SPDX-License-Identifier: Apache-2.0
// Set-up of what was found: addresses, windows, payload sizes, tags, virtual functions, enables.
// [LNK-9.8] [LNK-9.15]
#include <fmt/format.h>

#include "common/ranges.h"
#include "config_space/enumeration.h"

namespace flitwise {

namespace {
namespace pcie = cfg::pcie;

constexpr std::uint64_t kWindowGranule = std::uint64_t{1} << 20;
constexpr std::uint32_t kClosedWindow = 0x0000fff0;  ///< base above limit

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

std::uint32_t high_half(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}
}  // namespace

void Enumerator::place_all() {
  const std::uint64_t end = place_below(-1, options_.mmio.base);
  if (end - options_.mmio.base > options_.mmio.size) {
    result_.problems.push_back(fmt::format("BARs need {} bytes of address space, {} are there",
                                           end - options_.mmio.base, options_.mmio.size));
  }
}

std::uint64_t Enumerator::place_below(int parent, std::uint64_t cursor) {
  for (std::size_t index = 0; index < result_.functions.size(); ++index) {
    FoundFunction& function = result_.functions[index];
    if (function.parent != parent) {
      continue;
    }
    if (function.is_bridge) {
      const std::uint64_t base = align_up(cursor, kWindowGranule);
      cursor = align_up(place_below(static_cast<int>(index), base), kWindowGranule);
      windows_[index] = {base, cursor - base};
    }
    for (auto* const bars : {&function.bars, &function.vf_bars}) {
      for (FoundBar& bar : *bars) {
        bar.range.base = align_up(cursor, bar.alignment);
        cursor = bar.range.base + bar.range.size;
      }
    }
  }
  return cursor;
}

void Enumerator::set_up_all() {
  for (std::size_t index = 0; index < result_.functions.size(); ++index) {
    FoundFunction& function = result_.functions[index];
    function.mps = common_mps(index);
    if (function.is_bridge) {
      write_window(index);
      write_acs(function);
    } else {
      write_bars(function);
    }
    write_device_control(index);
    write(function.bdf, cfg::kCommand,
          cfg::kCommandMemorySpace | cfg::kCommandBusMaster | cfg::kCommandSerr, 0x3);
    write_vf_enable(function);
  }
}

void Enumerator::write_bars(const FoundFunction& function) {
  const auto write_all = [&](const std::vector<FoundBar>& bars, unsigned first) {
    for (const FoundBar& bar : bars) {
      write(function.bdf, first + 4 * bar.index, static_cast<std::uint32_t>(bar.range.base));
      write(function.bdf, first + 4 * bar.index + 4, high_half(bar.range.base));
    }
  };
  write_all(function.bars, cfg::kBar0);
  write_all(function.vf_bars, function.extended_capability(cfg::kExtSriov).value_or(0) +
                                  unsigned{cfg::sriov::kVfBar0});
}

void Enumerator::write_window(std::size_t index) {
  const Bdf bdf = result_.functions[index].bdf;
  const AddressRange window = windows_[index];
  write(bdf, cfg::kMemoryWindow, kClosedWindow);
  const bool is_open = window.size != 0;
  const std::uint64_t base = is_open ? window.base : 0;
  const std::uint64_t limit = is_open ? base + window.size - 1 : 0;
  write(bdf, cfg::kPrefetchWindow,
        is_open ? static_cast<std::uint32_t>((base >> 16 & 0xfff0U) | (limit & 0xfff00000U))
                : kClosedWindow);
  write(bdf, cfg::kPrefetchBaseUpper, high_half(base));
  write(bdf, cfg::kPrefetchLimitUpper, high_half(limit));
}

void Enumerator::write_device_control(std::size_t index) {
  FoundFunction& function = result_.functions[index];
  const auto start = function.capability(cfg::kCapPcie);
  if (!start) {
    return;
  }
  const bool extended_tag = (function.device_capabilities & pcie::kCapExtendedTag) != 0;
  const bool ten_bit = (function.device_capabilities_2 & pcie::kCap2TenBitRequester) != 0;
  const bool ari =
      (function.device_capabilities_2 & pcie::kCap2AriForwarding) != 0 && has_ari_below(index);
  function.tag_bits = ten_bit ? 10 : extended_tag ? 8 : 5;
  const std::uint32_t control = pcie::kReportCorrectable | pcie::kReportNonFatal |
                                pcie::kReportFatal | pcie::kReportUnsupported | pcie::kNoSnoop |
                                pcie::kRelaxedOrdering | (extended_tag ? pcie::kExtendedTag : 0U) |
                                pcie::size_code(function.mps) << pcie::kMpsShift |
                                pcie::size_code(options_.mrrs_of(function)) << pcie::kMrrsShift;
  // The upper half holds status bits that a written 1 would clear.
  write(function.bdf, *start + pcie::kDeviceControl, control, 0x3);
  const std::uint32_t control_2 = pcie::kIdoRequest | (ten_bit ? pcie::kTenBitRequester : 0U) |
                                  (ari ? pcie::kAriForwarding : 0U);
  write(function.bdf, *start + pcie::kDeviceControl2, control_2, 0x3);
}

void Enumerator::write_acs(const FoundFunction& function) {
  const auto start = function.extended_capability(cfg::kExtAcs);
  if (!start) {
    return;
  }
  const AccessControl access = options_.acs_of(function);
  for (std::size_t i = 0; i < access.egress.size(); ++i) {
    write(function.bdf, static_cast<unsigned>(*start + cfg::acs::kEgressVector + 4 * i),
          access.egress[i]);
  }
  write(function.bdf, *start + cfg::acs::kControl, access.control << 16, 0xc);
}

void Enumerator::write_vf_enable(const FoundFunction& function) {
  if (function.num_vfs == 0) {
    return;
  }
  const unsigned sriov = *function.extended_capability(cfg::kExtSriov);
  const std::uint32_t ten_bit = function.tag_bits == 10 ? cfg::sriov::kVfTenBitRequester : 0U;
  write(function.bdf, sriov + cfg::sriov::kControl,
        cfg::sriov::kVfEnable | cfg::sriov::kVfMemorySpace | cfg::sriov::kAriHierarchy | ten_bit);
}

int Enumerator::root_of(int index) const {
  while (result_.functions[static_cast<std::size_t>(index)].parent >= 0) {
    index = result_.functions[static_cast<std::size_t>(index)].parent;
  }
  return index;
}

// The smallest of all functions in the hierarchy of one root port.
unsigned Enumerator::common_mps(std::size_t index) const {
  unsigned mps = 4096;
  const int root = root_of(static_cast<int>(index));
  for (std::size_t other = 0; other < result_.functions.size(); ++other) {
    if (root_of(static_cast<int>(other)) == root) {
      const std::uint32_t supported = result_.functions[other].device_capabilities & 7U;
      mps = std::min(mps, 128U << std::min(supported, 5U));
    }
  }
  return mps;
}

bool Enumerator::has_ari_below(std::size_t index) const {
  return any_of(result_.functions, [index](const FoundFunction& function) {
    return function.parent == static_cast<int>(index) &&
           function.extended_capability(cfg::kExtAri).has_value();
  });
}

}  // namespace flitwise
