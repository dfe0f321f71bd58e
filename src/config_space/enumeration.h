// SPDX-License-Identifier: Apache-2.0
/// Host software that discovers and sets up a topology, as a resumable sequence of configuration
/// accesses: a timed actor performs each as a real TLP and hands the answer back. Standard
/// enumeration (docs/config_space.md).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config_space/config_space.h"
#include "config_space/registers.h"
#include "flitwise/config.h"
#include "flitwise/ids.h"

namespace flitwise {

struct CfgAccess {
  bool write = false;
  Bdf target;
  std::uint16_t offset = 0;  ///< DW aligned
  std::uint32_t value = 0;   ///< writes
  std::uint8_t byte_enables = 0xf;

  static CfgAccess read_of(Bdf target, std::uint16_t offset) {
    return {false, target, offset, 0, 0xf};
  }
};

struct FoundBar {
  unsigned index = 0;  ///< BAR register, 0, 2 or 4
  AddressRange range;  ///< of VF BARs: of all VFs together
  std::uint64_t alignment = 0;
};

/// One function as found; VFs are not listed apart (they follow from the PF's offset and stride).
struct FoundFunction {
  Bdf bdf;
  cfg::pcie::PortType type = cfg::pcie::PortType::kEndpoint;
  bool is_bridge = false;
  bool is_first_of_several = false;  ///< its device has more functions
  int parent = -1;                   ///< index of the bridge above; -1 on bus 0
  std::vector<std::pair<std::uint16_t, std::uint16_t>> capabilities;  ///< id, offset
  std::vector<std::pair<std::uint16_t, std::uint16_t>> extended;      ///< id, offset
  std::vector<FoundBar> bars;
  std::vector<FoundBar> vf_bars;
  std::uint16_t num_vfs = 0;
  std::uint16_t vf_offset = 0;
  std::uint16_t vf_stride = 0;
  std::uint32_t device_capabilities = 0;  ///< registers of the PCI Express capability, as read
  std::uint32_t device_capabilities_2 = 0;
  unsigned mps = 128;  ///< as set
  unsigned tag_bits = 5;
  std::uint8_t secondary = 0;  ///< bridges
  std::uint8_t subordinate = 0;

  std::optional<std::uint16_t> capability(std::uint16_t id) const;
  std::optional<std::uint16_t> extended_capability(std::uint16_t id) const;
};

/// What software writes into an ACS capability.
struct AccessControl {
  std::uint32_t control = 0;
  std::vector<std::uint32_t> egress;  ///< DWs of the Egress Control Vector
};

struct EnumeratorOptions {
  AddressRange mmio{kFirstBar, kBarSpace};  ///< prefetchable 64-bit space
  /// Asked once for each function. Unit: byte.
  std::function<unsigned(const FoundFunction&)> mrrs_of = [](const FoundFunction&) { return 512U; };
  /// Asked once for each port that has ACS.
  std::function<AccessControl(const FoundFunction&)> acs_of = [](const FoundFunction&) {
    return AccessControl{};
  };
};

struct EnumerationResult {
  std::vector<FoundFunction> functions;  ///< depth first, in the order found
  std::vector<std::string> problems;     ///< what could not be set up, in plain words
  unsigned accesses = 0;
};

/// Depth-first bus numbering, BAR sizing, window placement, device set-up: MPS and tags as large as
/// can be, all VFs that there are. Usage: while next() gives an access, perform it and answer().
class Enumerator {
 public:
  explicit Enumerator(EnumeratorOptions options);
  Enumerator(const Enumerator&) = delete;  // its steps refer to it
  Enumerator& operator=(const Enumerator&) = delete;

  /// The access to perform now; the same one until it is answered. Empty: all done.
  std::optional<CfgAccess> next() const {
    return steps_.empty() ? std::nullopt : steps_.front().access;
  }
  /// The outcome of next(): the value read (ignored for writes), or that it ended in an error
  /// completion (reads as all ones).
  void answer(std::uint32_t value, bool unsupported_request);
  /// REQUIRES: next() is empty.
  const EnumerationResult& result() const;

 private:
  using Then = std::function<void(std::uint32_t value)>;
  struct Step {
    std::optional<CfgAccess> access;  ///< none: only `then`
    Then then;
  };

  // Steps, in the order called, before everything that is still to do: so the walk is depth-first
  // and can go on at every access.
  void read(Bdf target, unsigned offset, Then then);
  void write(Bdf target, unsigned offset, std::uint32_t value, std::uint8_t byte_enables = 0xf);
  void later(std::function<void()> then);
  void settle();

  // Discovery (enumeration_scan.cpp).
  void scan_bus(unsigned bus, int parent, unsigned devices);
  void probe(Bdf bdf, int parent);
  void found(Bdf bdf, int parent);
  void walk(std::size_t index, bool is_extended, unsigned at, unsigned limit);
  void read_pcie_capability(std::size_t index);
  void plan_vfs(std::size_t index);
  void reserve_vf_buses(std::size_t index);
  void descend(std::size_t index);
  void size_bars(std::size_t index);
  void size_bar(std::size_t index, unsigned offset, unsigned number, bool is_vf);

  // Placement and set-up (enumeration_setup.cpp).
  void place_all();
  std::uint64_t place_below(int parent, std::uint64_t cursor);
  void set_up_all();
  void write_bars(const FoundFunction& function);
  void write_window(std::size_t index);
  void write_device_control(std::size_t index);
  void write_acs(const FoundFunction& function);
  void write_vf_enable(const FoundFunction& function);
  unsigned common_mps(std::size_t index) const;
  int root_of(int index) const;
  bool has_ari_below(std::size_t index) const;

  const EnumeratorOptions options_;
  std::deque<Step> steps_;
  std::vector<Step> fresh_;
  EnumerationResult result_;
  std::vector<AddressRange> windows_;  ///< by function; of bridges
  unsigned next_bus_ = 1;
};

}  // namespace flitwise
