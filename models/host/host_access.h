// SPDX-License-Identifier: Apache-2.0
/// The way of host software to devices and to the registers of the host: each access takes its
/// time, and software goes on when it is told (docs/host_software.md).
#pragma once

#include <boost/endian/conversion.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/byte_vector.h"
#include "config_space/enumeration.h"
#include "dhi/handle_types.h"
#include "flitwise/time.h"
#include "flitwise/tlp.h"

namespace flitwise {

/// Where the registers of the translation agent are. [IOM-1.1]
inline constexpr std::uint64_t kAgentRegisters = 0xfed9'0000;
/// Where a block of handle registers is. [DHI D12]
inline constexpr std::uint64_t kHandleBlocks = 0xfed1'0000;
constexpr std::uint64_t handle_block(unsigned index) {
  return kHandleBlocks + index * std::uint64_t{4096};
}

/// How an access ended. A failed read gives no bytes (software sees ones).
struct HostAnswer {
  CplStatus status = CplStatus::kSC;
  bool is_timeout = false;
  bool is_poisoned = false;  ///< then there is no data
  std::vector<std::uint8_t> data;

  static HostAnswer of(std::uint64_t value, unsigned bytes) {
    return {CplStatus::kSC, false, false, little_endian_bytes(value, bytes)};
  }
  static HostAnswer failed(CplStatus status) { return {status, false, false, {}}; }
  bool is_ok() const { return status == CplStatus::kSC && !is_timeout && !is_poisoned; }
  /// The first DW, little-endian; ones where there is none.
  std::uint32_t value() const {
    return data.size() < 4 ? 0xffff'ffff : boost::endian::load_little_u32(data.data());
  }
};

/// Implemented by HostBridge.
class HostAccess {
 public:
  using Done = std::function<void(const HostAnswer&)>;

  // `done` is called when software may go on.
  virtual void config(const CfgAccess& access, Done done) = 0;
  /// bytes 1..4096 that cross no 4 KiB boundary, in one TLP.
  virtual void read(std::uint64_t address, unsigned bytes, Done done) = 0;
  /// Posted: no wait. counts: belongs to the measured part. False where part of it has no owner;
  /// that part is counted as a master abort.
  virtual bool write(std::uint64_t address, const std::uint8_t* bytes, std::size_t size,
                     bool counts) = 0;
  /// The lowest of the eight bytes of a register; not measured.
  void write_register(std::uint64_t address, std::uint64_t value, unsigned bytes = 8) {
    const ByteVector data = little_endian_bytes(value, bytes);
    write(address, data.data(), data.size(), false);
  }
  /// Software does something else for so long.
  virtual void after(Time delay, std::function<void()> what) = 0;
  /// The device on these buses may use these handles while the registers of its port say so; what
  /// it had is gone. [DHI D4, D6]
  virtual void grant_handles(unsigned block, BusRange buses, HandleRange range) = 0;

 protected:
  ~HostAccess() = default;
};

}  // namespace flitwise
