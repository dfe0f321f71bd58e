// SPDX-License-Identifier: Apache-2.0
/// Inside of the Enumerator: steps that are done one after the other, each of which may put further
/// steps in front of the rest. That makes the walk depth-first and resumable at every access.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "config_space/enumeration.h"

namespace flitwise {

class Enumerator::Plan {
 public:
  explicit Plan(EnumeratorOptions options);

  void start();
  std::optional<CfgAccess> next() const;
  void answer(std::uint32_t value, bool unsupported_request);

  EnumerationResult result;

 private:
  using Then = std::function<void(std::uint32_t value)>;
  struct Step {
    std::optional<CfgAccess> access;  ///< none: only `then`
    Then then;
  };

  // Steps, in the order called, before everything that is still to do.
  void read(Bdf target, unsigned offset, Then then);
  void write(Bdf target, unsigned offset, std::uint32_t value, std::uint8_t byte_enables = 0xf);
  void later(std::function<void()> then);
  void settle();

  // Discovery (enumeration_scan.cpp).
  void scan_bus(unsigned bus, int parent, unsigned devices);
  void probe(Bdf bdf, int parent);
  void found(Bdf bdf, int parent, std::uint32_t ids);
  void walk_standard(std::size_t index, unsigned at, unsigned limit);
  void walk_extended(std::size_t index, unsigned at, unsigned limit);
  void read_pcie_capability(std::size_t index);
  void plan_vfs(std::size_t index);
  void reserve_vf_buses(std::size_t index);
  void descend(std::size_t index);
  void size_bars(std::size_t index);
  void size_bar(std::size_t index, unsigned offset, unsigned number, bool is_vf);

  // Placement and set-up (enumeration_setup.cpp).
  void place_all();
  std::uint64_t place_below(int parent, std::uint64_t cursor);
  std::uint64_t place(FoundBar& bar, std::uint64_t cursor);
  void set_up_all();
  void write_bars(const FoundFunction& function);
  void write_window(std::size_t index);
  void write_device_control(FoundFunction& function);
  void write_device_control_2(std::size_t index);
  void write_acs(const FoundFunction& function);
  void write_vf_enable(const FoundFunction& function);
  unsigned common_mps(std::size_t index) const;
  int root_of(int index) const;
  bool has_ari_below(std::size_t index) const;

  const EnumeratorOptions options_;
  std::deque<Step> steps_;
  std::vector<Step> fresh_;
  std::vector<AddressRange> windows_;  ///< by function; of bridges
  unsigned next_bus_ = 1;
};

}  // namespace flitwise
