// SPDX-License-Identifier: Apache-2.0
/// The host's end of handles as software reaches it: a block of registers for each device, and what
/// the control registers of its root port make of its share of the table. [DHI D4, D12]
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config_space/dhi_dvsec.h"
#include "dhi/handle_registers.h"
#include "host/host_access.h"
#include "iommu/agent_seams.h"
#include "root_complex/host_handles.h"
#include "root_complex/port_seams.h"

namespace flitwise {

class HandleBlocks final : public HandleTables {
 public:
  /// The next block, of a device below the port with these control registers.
  void add(HostHandles& handles, DownstreamPort& port, DhiDvsec& control) {
    all_.push_back({handles, port, control});
  }
  /// The device on these buses may use these handles while the control registers say so.
  void grant(unsigned block, BusRange buses, HandleRange range);
  /// The control registers have been written, or software lets a reset begin or sees its end.
  void negotiate(DhiDvsec& control);
  void begin_reset(const DhiDvsec& control);
  void end_reset(const DhiDvsec& control);

  bool has(std::uint64_t address) const {
    return address >= kHandleBlocks && address < handle_block(static_cast<unsigned>(all_.size()));
  }
  // REQUIRES: has(address).
  std::uint32_t read(std::uint64_t address) const {
    return all_[index_of(address)].registers.read(static_cast<std::uint32_t>(address % 4096));
  }
  void write(std::uint64_t address, const std::vector<std::uint8_t>& bytes);

  // HandleTables:
  std::optional<Device> device_of(Bdf function) const override;
  HandleStatus answered(Bdf function, const DeallocMessage& message, HandleStatus answer) override;
  void name_in_full(Bdf function, std::uint8_t itag) override;

 private:
  struct Block {
    HostHandles& handles;
    DownstreamPort& port;
    DhiDvsec& control;
    HandleRegisters registers = {};
    std::optional<BusRange> buses = {};         // absent: nothing was granted
    HandleRange granted = HandleRange::none();  // counts where the port has several devices
    bool is_reset_under_way = false;            // its entries go when the hot reset is over
  };

  bool set(Block& block);
  HostHandles* handles_of(Bdf function) const;
  std::size_t index_of(std::uint64_t address) const { return (address - kHandleBlocks) / 4096; }

  std::vector<Block> all_;
};

}  // namespace flitwise
