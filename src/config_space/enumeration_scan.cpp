// SPDX-License-Identifier: Apache-2.0
// Discovery: which functions are there, on which buses, with which capabilities and BARs.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "config_space/enumeration.h"
#include "flitwise/error.h"

namespace flitwise {

namespace {
constexpr unsigned kBuses = 256;
constexpr unsigned kMaxStandard = 48;   ///< capabilities that fit into 40h..FFh
constexpr unsigned kMaxExtended = 480;  ///< and into 100h..FFFh
constexpr std::uint32_t kOnes = 0xffffffff;

std::string text_of(Bdf bdf) {
  return fmt::format("{:02x}:{:02x}.{}", bdf.bus(), bdf.device(), bdf.function());
}

std::optional<std::uint16_t> offset_of(
    const std::vector<std::pair<std::uint16_t, std::uint16_t>>& chain, std::uint16_t id) {
  for (const auto& [found_id, offset] : chain) {
    if (found_id == id) {
      return offset;
    }
  }
  return std::nullopt;
}
}  // namespace

std::optional<std::uint16_t> FoundFunction::capability(std::uint16_t id) const {
  return offset_of(capabilities, id);
}

std::optional<std::uint16_t> FoundFunction::extended_capability(std::uint16_t id) const {
  return offset_of(extended, id);
}

Enumerator::Enumerator(EnumeratorOptions options) : options_(std::move(options)) {
  scan_bus(0, -1, 32);
  later([this] { place_all(); });
  later([this] { set_up_all(); });
  settle();
}

const EnumerationResult& Enumerator::result() const {
  FLITWISE_CHECK(steps_.empty(), "enumeration has not ended");
  return result_;
}

void Enumerator::answer(std::uint32_t value, bool unsupported_request) {
  if (steps_.empty()) {
    return;
  }
  const Step step = std::move(steps_.front());
  steps_.pop_front();
  ++result_.accesses;
  if (step.access->write && unsupported_request) {
    result_.problems.push_back(fmt::format("{}: write to register {:03x}h was refused",
                                           text_of(step.access->target), step.access->offset));
  }
  if (step.then) {
    step.then(unsupported_request ? kOnes : value);
  }
  settle();
}

void Enumerator::read(Bdf target, unsigned offset, Then then) {
  fresh_.push_back(
      {CfgAccess{false, target, static_cast<std::uint16_t>(offset), 0, 0xf}, std::move(then)});
}

void Enumerator::write(Bdf target, unsigned offset, std::uint32_t value,
                       std::uint8_t byte_enables) {
  fresh_.push_back(
      {CfgAccess{true, target, static_cast<std::uint16_t>(offset), value, byte_enables}, nullptr});
}

void Enumerator::later(std::function<void()> then) {
  fresh_.push_back({std::nullopt, [then = std::move(then)](std::uint32_t) { then(); }});
}

void Enumerator::settle() {
  for (;;) {
    steps_.insert(steps_.begin(), std::make_move_iterator(fresh_.begin()),
                  std::make_move_iterator(fresh_.end()));
    fresh_.clear();
    if (steps_.empty() || steps_.front().access) {
      return;
    }
    const Step step = std::move(steps_.front());
    steps_.pop_front();
    step.then(0);
  }
}

void Enumerator::scan_bus(unsigned bus, int parent, unsigned devices) {
  for (unsigned device = 0; device < devices; ++device) {
    probe(Bdf::of(bus, device, 0), parent);
  }
}

void Enumerator::probe(Bdf bdf, int parent) {
  read(bdf, cfg::kVendorId, [this, bdf, parent](std::uint32_t ids) {
    if ((ids & 0xffffU) != 0xffffU && ids != 0) {
      found(bdf, parent);
    }
  });
}

void Enumerator::found(Bdf bdf, int parent) {
  const std::size_t index = result_.functions.size();
  FoundFunction function;
  function.bdf = bdf;
  function.parent = parent;
  result_.functions.push_back(function);
  windows_.emplace_back();
  read(bdf, cfg::kHeaderType & ~3U, [this, bdf, parent, index](std::uint32_t value) {
    const std::uint32_t header = value >> 16;
    result_.functions[index].is_bridge = (header & cfg::kHeaderTypeMask) == 1;
    result_.functions[index].is_first_of_several =
        (header & cfg::kHeaderMultiFunction) != 0 && bdf.function() == 0;
  });
  read(bdf, cfg::kCapabilityPointer,
       [this, index](std::uint32_t value) { walk(index, false, value & 0xfcU, kMaxStandard); });
  walk(index, true, cfg::kExtendedStart, kMaxExtended);
  later([this, index] { read_pcie_capability(index); });
  later([this, index] {
    if (result_.functions[index].is_bridge) {
      descend(index);
    } else {
      plan_vfs(index);
      size_bars(index);
    }
  });
  // What is below a function is numbered before the next function of its device.
  later([this, bdf, parent, index] {
    for (unsigned other = 1; result_.functions[index].is_first_of_several && other < 8; ++other) {
      probe(Bdf::of(bdf.bus(), bdf.device(), other), parent);
    }
  });
}

void Enumerator::walk(std::size_t index, bool is_extended, unsigned at, unsigned limit) {
  if (at < (is_extended ? cfg::kExtendedStart : 0x40U) || limit == 0) {
    return;
  }
  read(result_.functions[index].bdf, at, [=](std::uint32_t header) {
    if (header == kOnes || (is_extended && header == 0)) {
      return;
    }
    FoundFunction& function = result_.functions[index];
    (is_extended ? function.extended : function.capabilities)
        .emplace_back(header & (is_extended ? 0xffffU : 0xffU), at);
    walk(index, is_extended, is_extended ? header >> 20 & 0xffcU : header >> 8 & 0xfcU, limit - 1);
  });
}

void Enumerator::read_pcie_capability(std::size_t index) {
  const auto start = result_.functions[index].capability(cfg::kCapPcie);
  const Bdf bdf = result_.functions[index].bdf;
  if (!start) {
    result_.problems.push_back(text_of(bdf) + ": no PCI Express capability");
    return;
  }
  read(bdf, *start + cfg::pcie::kCapabilities, [this, index](std::uint32_t value) {
    result_.functions[index].type = static_cast<cfg::pcie::PortType>(value >> 20 & 0xfU);
  });
  read(bdf, *start + cfg::pcie::kDeviceCap, [this, index](std::uint32_t value) {
    result_.functions[index].device_capabilities = value;
  });
  read(bdf, *start + cfg::pcie::kDeviceCap2, [this, index](std::uint32_t value) {
    result_.functions[index].device_capabilities_2 = value;
  });
}

void Enumerator::plan_vfs(std::size_t index) {
  const auto start = result_.functions[index].extended_capability(cfg::kExtSriov);
  if (!start) {
    return;
  }
  const Bdf bdf = result_.functions[index].bdf;
  const unsigned sriov = *start;
  read(bdf, sriov + cfg::sriov::kInitialTotal, [this, index, bdf, sriov](std::uint32_t value) {
    const auto count = static_cast<std::uint16_t>(value >> 16);
    result_.functions[index].num_vfs = count;
    if (count == 0) {
      return;
    }
    // First VF Offset and VF Stride hold for the NumVFs and hierarchy that are set.
    write(bdf, sriov + cfg::sriov::kControl, cfg::sriov::kAriHierarchy);
    write(bdf, sriov + cfg::sriov::kNumVfs, count);
    read(bdf, sriov + cfg::sriov::kOffsetStride, [this, index](std::uint32_t layout) {
      result_.functions[index].vf_offset = static_cast<std::uint16_t>(layout);
      result_.functions[index].vf_stride = static_cast<std::uint16_t>(layout >> 16);
      reserve_vf_buses(index);
    });
  });
}

void Enumerator::reserve_vf_buses(std::size_t index) {
  FoundFunction& function = result_.functions[index];
  const unsigned last =
      function.bdf.value + function.vf_offset + function.vf_stride * (function.num_vfs - 1U);
  if (last >> 8 >= kBuses) {
    result_.problems.push_back(
        fmt::format("{}: no bus numbers left for {} VFs", text_of(function.bdf), function.num_vfs));
    function.num_vfs = 0;
    return;
  }
  next_bus_ = std::max(next_bus_, (last >> 8) + 1);
}

void Enumerator::descend(std::size_t index) {
  FoundFunction& bridge = result_.functions[index];
  if (next_bus_ >= kBuses) {
    result_.problems.push_back(text_of(bridge.bdf) + ": no bus number left");
    return;
  }
  const Bdf bdf = bridge.bdf;
  const unsigned secondary = next_bus_++;
  const bool is_single_link = bridge.type != cfg::pcie::PortType::kUpstreamPort;
  bridge.secondary = static_cast<std::uint8_t>(secondary);
  // All buses from here on lie below, until it is known which do.
  write(bdf, cfg::kBusNumbers, bdf.bus() | secondary << 8 | 0xffU << 16, 0x7);
  scan_bus(secondary, static_cast<int>(index), is_single_link ? 1 : 32);
  later([this, index, bdf, secondary] {
    const unsigned subordinate = next_bus_ - 1;
    result_.functions[index].subordinate = static_cast<std::uint8_t>(subordinate);
    write(bdf, cfg::kBusNumbers, bdf.bus() | secondary << 8 | subordinate << 16, 0x7);
  });
}

void Enumerator::size_bars(std::size_t index) {
  for (unsigned number = 0; number < 6; number += 2) {
    size_bar(index, cfg::kBar0 + 4 * number, number, false);
  }
  later([this, index] {
    const FoundFunction& function = result_.functions[index];
    const auto start = function.extended_capability(cfg::kExtSriov);
    for (unsigned number = 0; start && function.num_vfs != 0 && number < 6; number += 2) {
      size_bar(index, *start + cfg::sriov::kVfBar0 + 4 * number, number, true);
    }
  });
}

void Enumerator::size_bar(std::size_t index, unsigned offset, unsigned number, bool is_vf) {
  const Bdf bdf = result_.functions[index].bdf;
  write(bdf, offset, kOnes);
  write(bdf, offset + 4, kOnes);
  read(bdf, offset, [=](std::uint32_t low) {
    if (low == 0 || low == kOnes) {
      return;
    }
    if ((low & 7U) != 4U) {
      result_.problems.push_back(
          fmt::format("{}: BAR {} is not a 64-bit memory BAR", text_of(bdf), number));
      return;
    }
    read(bdf, offset + 4, [=](std::uint32_t high) {
      FoundFunction& function = result_.functions[index];
      const std::uint64_t size = ~(std::uint64_t{high} << 32 | (low & ~0xfU)) + 1;
      FoundBar bar{number, {0, is_vf ? size * function.num_vfs : size}, size};
      (is_vf ? function.vf_bars : function.bars).push_back(bar);
    });
  });
}

}  // namespace flitwise
