// SPDX-License-Identifier: Apache-2.0
/// What the DMA engine is asked to do: a seeded stream of work items made from the configuration.
/// See docs/workloads.md.
#pragma once

#include <cstdint>
#include <memory>

#include "flitwise/config.h"
#include "flitwise/ids.h"
#include "flitwise/time.h"

namespace flitwise {

/// What one item does on the link.
enum class Op : std::uint8_t {
  kWrite,     ///< DMA write into host memory
  kRead,      ///< DMA read from host memory
  kMsi,       ///< interrupt: DMA write of 4 bytes that never carries a PASID
  kDoorbell,  ///< host MMIO write down to the device; address is an offset into BAR 0
};

/// One unit of work. A request is one message of one or more items; its items follow each other in
/// the stream.
struct WorkItem {
  Time at{};          ///< earliest issue; 0 for the closed loop; never decreases
  DomainId domain{};  ///< below domain_ids()
  Op op = Op::kWrite;
  std::uint64_t address = 0;  ///< bus address, for kDoorbell an offset into the function's BAR 0
  std::uint32_t bytes = 0;    ///< at least 1; not yet split by MPS, MRRS or 4 KiB
  bool ends_context = false;  ///< the domain's context ends when this item is done (churn)
  bool ends_message = true;
  bool depends_on_previous = false;  ///< issues only after the previous item of the same message
                                     ///< is complete (read: data there; doorbell: arrived)
};

/// A finite stream of work items. next() allocates nothing and takes some tens of nanoseconds.
class Workload {
 public:
  /// The stream for one device: `warmup` + config.requests requests (messages), or all lines of a
  /// trace. Same arguments, same stream. Throws ConfigError for unreadable or wrong input files and
  /// for config.kind kHostile and kFlows, which are not streams of requests of one device.
  static std::unique_ptr<Workload> make(const WorkloadConfig& config, const DeviceConfig& device,
                                        std::uint64_t seed, std::uint64_t warmup = 0);

  Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;
  virtual ~Workload() = default;

  /// Writes the next item; false at the end of the stream (item is then unchanged).
  virtual bool next(WorkItem& item) = 0;
  /// Requests that have not begun.
  virtual std::uint64_t left() const = 0;
};

/// Number of domain ids that may appear: workload.domains, with churn four times as many (ids of
/// ended contexts rest until all others had their turn).
std::uint32_t domain_ids(const WorkloadConfig& config);

}  // namespace flitwise
