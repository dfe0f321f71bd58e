// SPDX-License-Identifier: Apache-2.0
/// The way of host software to devices and to the registers of the host: each access takes its
/// time, and software goes on when it is told (docs/host_software.md).
#pragma once

#include <boost/endian/conversion.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "common/byte_vector.h"
#include "config_space/enumeration.h"
#include "dhi/handle_types.h"
#include "flitwise/config.h"
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

// Where the driver of the agent has the queues that its registers name. model: below the area of
// the tables.
inline constexpr std::uint64_t kInvalidationQueue = std::uint64_t{48} << 20;
inline constexpr std::uint64_t kPageRequestQueue = kInvalidationQueue + (std::uint64_t{64} << 10);
inline constexpr std::uint64_t kWaitStatus = kPageRequestQueue + (std::uint64_t{64} << 10);
inline constexpr std::uint64_t kTeardownStatus = kWaitStatus + 64;  ///< of waits for contexts

/// Unmaps that wait for the driver, in batches, before whoever calls for more has to wait.
inline constexpr unsigned kBatchesAhead = 3;

/// Pages of memory that unmaps may keep from their next use, so that there is always one to map.
inline std::uint64_t spare_frames(const IommuDriverConfig& config) {
  constexpr std::uint64_t kResting = 16;
  return std::uint64_t{config.batch} * config.unmap_pages * kBatchesAhead + kResting;
}

/// Software's accesses to the registers of the translation agent. [IOM-1.1]
class AgentRegisters {
 public:
  struct Write {
    std::uint32_t offset;
    unsigned bytes;
    std::uint64_t value;
  };
  /// step: between two accesses of software.
  AgentRegisters(HostAccess& bridge, Time step) : bridge_(bridge), step_(step) {}

  /// bytes: 4 or 8.
  void read(std::uint32_t offset, unsigned bytes, std::function<void(std::uint64_t)> then) {
    bridge_.read(
        kAgentRegisters + offset, bytes, [bytes, then = std::move(then)](const HostAnswer& answer) {
          then(bytes == 8 ? boost::endian::load_little_u64(answer.data.data()) : answer.value());
        });
  }
  /// One after another, a step apart.
  void write(std::vector<Write> accesses, std::function<void()> then) {
    bridge_.after(step_, [this, accesses = std::move(accesses), then = std::move(then)]() mutable {
      if (accesses.empty()) {
        then();
        return;
      }
      const Write& first = accesses.front();
      bridge_.write_register(kAgentRegisters + first.offset, first.value, first.bytes);
      accesses.erase(accesses.begin());
      write(std::move(accesses), std::move(then));
    });
  }

 private:
  HostAccess& bridge_;
  const Time step_;
};

}  // namespace flitwise
