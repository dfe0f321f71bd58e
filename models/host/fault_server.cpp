// SPDX-License-Identifier: Apache-2.0
// Fault records. [IOM-9.1]
#include "host/driver_threads.h"

#include <fmt/format.h>

#include "iommu/fault.h"
#include "iommu/registers.h"

namespace flitwise {
namespace reg = iommu_register;
namespace {

constexpr std::uint32_t kTaken = 1U << 31;  // F, in the last DW of a fault record [IOM-9.1]
constexpr std::uint32_t kUpperHalf = 12;
constexpr std::uint32_t kFaultErrors = fault_status::kClearable;

}  // namespace

// Until nothing is left: an event comes for the first of them alone. [IOM-9.3]
void FaultServer::serve() {
  if (!is_serving_) {
    is_serving_ = true;
    records_taken(0);
  }
}

void FaultServer::records_taken(std::uint32_t status) {
  std::vector<AgentRegisters::Write> clears;
  if ((status & kFaultErrors) != 0) {
    clears.push_back({reg::kFsts, 4, status & kFaultErrors});
  }
  driver_.registers.write(std::move(clears), [this, status] {
    if ((status & fault_status::kTimeout) != 0) {
      timed_out_();
    }
    driver_.registers.read(reg::kFsts, 4, [this](std::uint64_t now_set) {
      const auto next = static_cast<std::uint32_t>(now_set);
      if ((next & (kFaultErrors | fault_status::kPending)) == 0) {
        is_serving_ = false;
        return;
      }
      count(next);
      take_record(0, next);
    });
  });
}

void FaultServer::count(std::uint32_t status) {
  constexpr std::pair<std::uint32_t, const char*> kKinds[] = {
      {fault_status::kOverflow, "fault_overflow"},
      {fault_status::kQueueError, "invalidation_queue_error"},
      {fault_status::kCompletionError, "invalidation_completion_error"},
      {fault_status::kTimeout, "invalidation_timeout"}};
  for (const auto& [bit, kind] : kKinds) {
    if ((status & bit) != 0) {
      ++driver_.errors[kind];
    }
  }
}

void FaultServer::take_record(unsigned index, std::uint32_t status) {
  if (index > (driver_.capabilities >> 40 & 0xffU)) {  // CAP.NFR
    records_taken(status);
    return;
  }
  const auto first = static_cast<std::uint32_t>(driver_.capabilities >> 24 & 0x3ffU) * 16;  // FRO
  const std::uint32_t offset = first + index * 16;
  driver_.registers.read(offset + 8, 8, [this, index, status, offset](std::uint64_t high) {
    if ((high >> 32 & kTaken) == 0) {
      take_record(index + 1, status);
      return;
    }
    driver_.registers.read(offset, 8, [this, index, status, offset, high](std::uint64_t low) {
      record_read(low, high);
      driver_.registers.write({{offset + kUpperHalf, 4, kTaken}},
                              [this, index, status] { take_record(index + 1, status); });
    });
  });
}

// A page that was not there is there for whoever comes next.
void FaultServer::record_read(std::uint64_t low, std::uint64_t high) {
  ++driver_.counts.faults_taken;
  const auto code = static_cast<std::uint8_t>(high >> 32);
  ++driver_.errors[fmt::format("fault_{:02x}", code)];
  const Bdf source{static_cast<std::uint16_t>(high)};
  OptionalId<Pasid> pasid;
  if ((high >> 31 & 1U) != 0) {
    pasid = Pasid{static_cast<std::uint32_t>(high >> 40 & 0xf'ffffU)};
  }
  DriverPages& pages = driver_.pages;
  const DriverDomain* const domain = pages.find_domain(source, pasid);
  if (domain != nullptr && domain->is_over &&
      code == static_cast<std::uint8_t>(FaultReason::kPasidEntryNotPresent)) {
    ++requests_after_end_;
  }
  const std::optional<DriverPages::Index> page = pages.find(source, pasid, low);
  if (!page || domain->is_over || pages.page(*page).frame || pages.page(*page).is_wanted) {
    return;
  }
  pages.page(*page).is_wanted = true;
  driver_.note_wait(driver_.config.map_latency);
  driver_.background.after(driver_.config.map_latency,
                           [this, page = *page] { pages_.map_wanted(page); });
}

}  // namespace flitwise
