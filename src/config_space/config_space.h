// SPDX-License-Identifier: Apache-2.0
/// The 4 KiB configuration space of one function: a type 0 or type 1 header and the two chains of
/// capabilities. Standard register layout (docs/config_space.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config_space/capability.h"
#include "config_space/registers.h"
#include "flitwise/ids.h"

namespace flitwise {

struct FunctionIds {
  std::uint16_t vendor = kModelVendor;
  std::uint16_t device = 0x0001;
};

/// Three 64-bit prefetchable BARs; size 0: not there, else a power of two from 4 KiB up.
using BarSizes = std::array<std::uint64_t, 3>;

/// Registers of such BARs, the first of them at `offset`. REQUIRES: the sizes are as above.
std::vector<Register> bar_registers(std::uint16_t offset, const BarSizes& sizes);

/// One byte range. Empty when size is 0.
struct AddressRange {
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  bool contains(std::uint64_t address) const { return address - base < size; }
};

class ConfigSpace {
 public:
  static ConfigSpace type0(const FunctionIds& ids, const BarSizes& bars);
  static ConfigSpace type1(const FunctionIds& ids, bool is_multi_function = false);

  /// Appends to the chain of its kind and returns where it starts. REQUIRES: it fits.
  std::uint16_t add(Capability capability);

  /// The DW that holds this offset. REQUIRES: offset < 4096.
  std::uint32_t read(std::uint16_t offset) const;
  WriteEffect write(std::uint16_t offset, std::uint32_t value, std::uint8_t byte_enables = 0xf);
  /// The hardware's own change of a register, masks or not.
  void set(std::uint16_t offset, std::uint32_t mask, std::uint32_t value) {
    registers_.set(offset, mask, value);
  }
  void reset(ResetKind kind);

  /// Start of a capability in the chain, if it is there.
  std::optional<std::uint16_t> find(std::uint16_t id) const { return find(id, false); }
  std::optional<std::uint16_t> find_extended(std::uint16_t id) const { return find(id, true); }

  bool is_bridge() const { return is_bridge_; }
  bool memory_space_enabled() const { return has_command(cfg::kCommandMemorySpace); }
  bool bus_master_enabled() const { return has_command(cfg::kCommandBusMaster); }
  /// Where BAR pair 0..2 stands, enabled or not; empty if there is none.
  AddressRange bar(unsigned index) const;
  /// The 64-bit BAR whose low DW stands at this offset.
  AddressRange bar_at(std::uint16_t offset) const;

 private:
  struct Placed {
    std::uint16_t start;
    Capability capability;
  };
  ConfigSpace() = default;
  std::optional<std::uint16_t> find(std::uint16_t id, bool is_extended) const;
  bool has_command(std::uint32_t bit) const { return (registers_.read(cfg::kCommand) & bit) != 0; }
  const Placed* placed_at(std::uint16_t offset) const;
  void define_common(const FunctionIds& ids, std::uint32_t class_code, std::uint32_t header_type);
  void note_header_write(std::uint16_t offset, std::uint32_t before, std::uint32_t after,
                         WriteEffect& effect) const;

  RegisterFile registers_;
  std::vector<Placed> placed_;
  std::uint16_t next_standard_ = 0x40;  ///< where the next capability goes
  std::uint16_t next_extended_ = 0x100;
  std::uint16_t last_standard_ = 0;
  std::uint16_t last_extended_ = 0;
  bool is_bridge_ = false;
};

/// Configuration space as text, in the form that `lspci -xxxx` prints and `lspci -F` reads: a line
/// with the routing ID, all 4,096 bytes as software reads them in rows of 16, an empty line. The
/// device number of `function` is bits [7:3], with ARI too. (docs/config_space.md, "Dump")
std::string config_dump(Bdf function, const ConfigSpace& space);

}  // namespace flitwise
