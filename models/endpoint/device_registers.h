// SPDX-License-Identifier: Apache-2.0
/// What a device itself has in BAR 0: handle registers and the order to stop a context in that of
/// the PF, and memory that keeps what is written.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>

#include "common/page.h"
#include "dhi/handle_registers.h"
#include "endpoint/bar_map.h"
#include "flitwise/ids.h"

namespace flitwise {

/// Software stops a context of the device by eight bytes, written in one go with kStop set, and
/// read back until that bit is gone. model: devices have something of the kind, each its own.
struct ContextStop {
  static constexpr std::uint64_t kOffset = 0x40;
  static constexpr std::uint64_t kStop = std::uint64_t{1} << 63, kHasPasid = std::uint64_t{1} << 62;
  Bdf function;             ///< bits 47:32
  OptionalId<Pasid> pasid;  ///< bits 19:0

  std::uint64_t encode() const {
    return kStop | std::uint64_t{function.value} << 32 | (pasid ? kHasPasid | to_int(*pasid) : 0);
  }
};

class DeviceRegisters final : public RegionOwner {
 public:
  struct Hooks {
    std::function<void(const HandleCommand&)> handle_command;
    std::function<void()> context_stop_written;
  };
  DeviceRegisters(unsigned functions, std::uint64_t bar_size, Hooks hooks);

  /// The lower half of each BAR; an engine may claim the upper one for its doorbells.
  void claim(BarMap& map);
  void mmio_write(const MmioPlace& place, const std::uint8_t* bytes, std::size_t size,
                  Time now) override;
  void mmio_read(const MmioRead& read, BarAccess& access, Time now) override;

  HandleRegisters& handle_registers() { return handle_registers_; }
  /// The order that was written and is not done yet.
  std::optional<ContextStop> context_stop() const;
  void context_stopped() { context_stop_.fill(0); }
  /// BAR contents of one function, or with function 0 of all, go back to their reset values.
  void reset(unsigned function);

 private:
  enum Region : unsigned { kMemory, kHandleRegisters, kContextStop };
  using Page = std::array<std::uint8_t, kPageBytes>;
  using PageNumber = std::uint64_t;

  void write_handle_registers(std::uint64_t offset, const std::uint8_t* bytes, std::size_t size);
  template <class Visit>
  void for_each_page(const MmioPlace& place, std::size_t size, Visit visit) const;
  void store(const MmioPlace& place, const std::uint8_t* bytes, std::size_t size);
  void load(const MmioPlace& place, std::uint8_t* bytes, std::size_t size) const;

  const unsigned functions_;
  const std::uint64_t bar_size_;
  Hooks hooks_;
  HandleRegisters handle_registers_;
  std::array<std::uint8_t, 8> context_stop_{};
  std::unordered_map<PageNumber, Page> pages_;  // made of zeros
};

}  // namespace flitwise
