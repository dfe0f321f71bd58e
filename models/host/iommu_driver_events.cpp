// SPDX-License-Identifier: Apache-2.0
// Pages that come, and what the agent reports.
#include <fmt/format.h>

#include <array>

#include "host/driver_memory.h"
#include "host/iommu_driver.h"
#include "iommu/entries.h"
#include "iommu/fault.h"

namespace flitwise {
namespace reg = iommu_register;
namespace {

constexpr std::uint32_t kTaken = 1U << 31;  // F, in the last DW of a fault record [IOM-9.1]
constexpr std::uint32_t kUpperHalf = 12;
constexpr std::uint32_t kFaultErrors = fault_status::kClearable;

/// First-stage addresses have 48 bits, with the topmost repeated above. [PAS-18]
bool is_canonical(std::uint64_t address) {
  const std::uint64_t upper = address >> 47;
  return upper == 0 || upper == 0x1'ffff;
}
bool caches_not_present(std::uint64_t capabilities) {
  return (capabilities >> 7 & 1U) != 0;  // CAP.CM
}
std::uint32_t record_offset(std::uint64_t capabilities, unsigned index) {
  return static_cast<std::uint32_t>(capabilities >> 24 & 0x3ffU) * 16 + index * 16;
}
unsigned record_count(std::uint64_t capabilities) {
  return static_cast<unsigned>(capabilities >> 40 & 0xffU) + 1;
}

}  // namespace

// ---- page requests

// The flag first, so that what comes behind the tail that is read raises another event. [PRI-16]
void IommuDriver::serve_pages() {
  if (is_serving_) {
    has_new_pages_ = true;
    return;
  }
  is_serving_ = true;
  has_new_pages_ = false;
  write_registers({{reg::kPrs, 4, page_request_status::kPending}}, [this] {
    read_register(reg::kPqt, 4, [this](std::uint64_t tail) {
      take_records(page_head_, static_cast<std::uint32_t>(tail));
    });
  });
}

void IommuDriver::take_records(std::uint32_t head, std::uint32_t tail) {
  if (head == tail) {
    page_head_ = head;
    write_registers({{reg::kPqh, 4, head}}, [this] { look_for_overflow(); });
    return;
  }
  bridge_.after(step_ + memory_latency_, [this, head, tail] {
    PageRequestRecord record{};
    memory_.peek(kPageRequestQueue + head, record.data(), record.size());
    if (const std::optional<PageRequest> request = decode_page_request(record.data())) {
      take_request(*request);
    } else {
      ++errors_["page_request_record_unknown"];
    }
    take_records((head + kPageRequestRecordBytes) % config_.page_request_queue, tail);
  });
}

// There is room again, so that an overflow may end. While a flag stands no further one raises an
// event, so that an overflow behind the first flag would be heard of by nobody. [PRI-13] [PRI-15]
// [PRI-16]
void IommuDriver::look_for_overflow() {
  read_register(reg::kPrs, 4, [this](std::uint64_t status) {
    has_new_pages_ = has_new_pages_ || (status & page_request_status::kPending) != 0;
    if ((status & page_request_status::kOverflow) == 0) {
      pages_served();
      return;
    }
    ++errors_["page_request_overflow"];
    write_registers({{reg::kPrs, 4, page_request_status::kOverflow}}, [this] { pages_served(); });
  });
}

void IommuDriver::pages_served() {
  is_serving_ = false;
  if (has_new_pages_) {
    serve_pages();
  }
}

void IommuDriver::take_request(const PageRequest& request) {
  if (request.is_stop_marker()) {
    return;
  }
  ++requests_out_;
  PageGroup& group = groups_[{request.function.value, request.prg_index}];
  ++group.out;
  group.has_last = group.has_last || request.is_last;
  const std::optional<Index> page = pages_->find(request.function, request.pasid, request.page);
  if (is_refused(request, page)) {
    ++refused_;
    answer(request, false);
    return;
  }
  pages_->page(*page).is_wanted = true;
  note_wait(config_.map_latency);
  bridge_.after(config_.map_latency, [this, request, page = *page] { map_for(request, page); });
}

// [PRI-40]
bool IommuDriver::is_refused(const PageRequest& request, std::optional<Index> page) {
  return !page || pages_->domain_of(*page).is_over || request.execute || request.privileged ||
         !is_canonical(request.page) || random_.chance(config_.refuse_fraction);
}

void IommuDriver::map_for(const PageRequest& request, Index page) {
  ++served_;
  pages_->page(page).is_wanted = false;
  std::vector<DescriptorBytes> commands;
  if (!pages_->page(page).frame && !pages_->domain_of(page).is_over) {
    map(page, commands);
  }
  if (!commands.empty()) {
    ring_.submit(std::move(commands), [] {});
  }
  answer(request, true);
}

// A group has one answer, once its last request is there and all of it are settled: refused where
// one of it was. [PRI-02] [PRI-08]
void IommuDriver::answer(const PageRequest& request, bool is_granted) {
  --requests_out_;
  PageGroup& group = groups_[{request.function.value, request.prg_index}];
  group.is_refused = group.is_refused || !is_granted;
  if (--group.out != 0 || !group.has_last) {
    return;
  }
  PageGroupResponse response;
  response.source = request.function;
  response.code = group.is_refused ? 1 : 0;
  response.group = request.prg_index;
  groups_.erase({request.function.value, request.prg_index});
  const DriverDomain* const domain = pages_->find_function(request.function);
  if (domain == nullptr || domain->responds_with_pasid) {
    response.pasid = request.pasid;
  }
  ring_.submit({encode(response)}, [] {});
}

// With CM=0 no cache keeps that the page was not there. [IOM-6.2] [PAS-42]
void IommuDriver::map(Index page, std::vector<DescriptorBytes>& commands) {
  pages_->map(page);
  ++maps_;
  if (caches_not_present(capabilities_)) {
    std::vector<DescriptorBytes> of_device;
    add_invalidations(pages_->domain_of(page),
                      PageRange::around(pages_->address(page), pages_->page_bits()), false,
                      commands, of_device);
  }
}

// ---- faults

// Until nothing is left: an event comes for the first of them alone. [IOM-9.3]
void IommuDriver::take_faults() {
  if (is_taking_faults_) {
    return;
  }
  is_taking_faults_ = true;
  faults_taken(0);
}

void IommuDriver::faults_taken(std::uint32_t status) {
  std::vector<RegisterWrite> clears;
  if ((status & kFaultErrors) != 0) {
    clears.push_back({reg::kFsts, 4, status & kFaultErrors});
  }
  write_registers(std::move(clears), [this, status] {
    if ((status & fault_status::kTimeout) != 0) {
      repeat_invalidation();
      teardown_->repeat();
    }
    read_register(reg::kFsts, 4, [this](std::uint64_t now_set) {
      const auto next = static_cast<std::uint32_t>(now_set);
      if ((next & (kFaultErrors | fault_status::kPending)) == 0) {
        is_taking_faults_ = false;
        return;
      }
      count_faults(next);
      take_record(0, next);
    });
  });
}

void IommuDriver::count_faults(std::uint32_t status) {
  const auto count = [&](std::uint32_t bit, const char* kind) {
    if ((status & bit) != 0) {
      ++errors_[kind];
    }
  };
  count(fault_status::kOverflow, "fault_overflow");
  count(fault_status::kQueueError, "invalidation_queue_error");
  count(fault_status::kCompletionError, "invalidation_completion_error");
  count(fault_status::kTimeout, "invalidation_timeout");
}

void IommuDriver::take_record(unsigned index, std::uint32_t status) {
  if (index == record_count(capabilities_)) {
    faults_taken(status);
    return;
  }
  const std::uint32_t offset = record_offset(capabilities_, index);
  read_register(offset + 8, 8, [this, index, status, offset](std::uint64_t high) {
    if ((high >> 32 & kTaken) == 0) {
      take_record(index + 1, status);
      return;
    }
    read_register(offset, 8, [this, index, status, offset, high](std::uint64_t low) {
      record_read(low, high);
      write_registers({{offset + kUpperHalf, 4, kTaken}},
                      [this, index, status] { take_record(index + 1, status); });
    });
  });
}

// A page that was not there is there for whoever comes next.
void IommuDriver::record_read(std::uint64_t low, std::uint64_t high) {
  ++faults_taken_;
  const auto code = static_cast<std::uint8_t>(high >> 32);
  ++errors_[fmt::format("fault_{:02x}", code)];
  const Bdf source{static_cast<std::uint16_t>(high)};
  OptionalId<Pasid> pasid;
  if ((high >> 31 & 1U) != 0) {
    pasid = Pasid{static_cast<std::uint32_t>(high >> 40 & 0xf'ffffU)};
  }
  const DriverDomain* const domain = pages_->find_domain(source, pasid);
  if (domain != nullptr && domain->is_over &&
      code == static_cast<std::uint8_t>(FaultReason::kPasidEntryNotPresent)) {
    ++requests_after_end_;
  }
  const std::optional<Index> page = pages_->find(source, pasid, low);
  if (!page || domain->is_over || pages_->page(*page).frame || pages_->page(*page).is_wanted) {
    return;
  }
  pages_->page(*page).is_wanted = true;
  note_wait(config_.map_latency);
  background(config_.map_latency, [this, page = *page] {
    pages_->page(page).is_wanted = false;
    remap(page);
  });
}

}  // namespace flitwise
