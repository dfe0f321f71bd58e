// SPDX-License-Identifier: Apache-2.0
// Page requests, and pages that come.
#include "host/driver_threads.h"

#include "flitwise/link_socket.h"
#include "iommu/entries.h"
#include "iommu/registers.h"

namespace flitwise {
namespace reg = iommu_register;

// The flag first, so that what comes behind the tail that is read raises another event. [PRI-16]
void PageServer::serve() {
  if (is_serving_) {
    has_new_records_ = true;
    return;
  }
  is_serving_ = true;
  use.set(1, now());
  has_new_records_ = false;
  driver_.registers.write({{reg::kPrs, 4, page_request_status::kPending}}, [this] {
    driver_.registers.read(reg::kPqt, 4, [this](std::uint64_t tail) {
      take_records(head_, static_cast<std::uint32_t>(tail));
    });
  });
}

void PageServer::take_records(std::uint32_t head, std::uint32_t tail) {
  if (head == tail) {
    head_ = head;
    driver_.registers.write({{reg::kPqh, 4, head}}, [this] { look_for_overflow(); });
    return;
  }
  driver_.bridge.after(driver_.step + driver_.memory_latency, [this, head, tail] {
    PageRequestRecord record{};
    driver_.memory.peek(kPageRequestQueue + head, record.data(), record.size());
    if (const std::optional<PageRequest> request = decode_page_request(record.data())) {
      take_request(*request);
    } else {
      ++driver_.errors["page_request_record_unknown"];
    }
    take_records((head + kPageRequestRecordBytes) % driver_.config.page_request_queue, tail);
  });
}

// There is room again, so that an overflow may end. While a flag stands no further one raises an
// event, so that an overflow behind the first flag would be heard of by nobody. [PRI-13] [PRI-15]
// [PRI-16]
void PageServer::look_for_overflow() {
  driver_.registers.read(reg::kPrs, 4, [this](std::uint64_t status) {
    has_new_records_ = has_new_records_ || (status & page_request_status::kPending) != 0;
    if ((status & page_request_status::kOverflow) == 0) {
      records_taken();
      return;
    }
    ++driver_.errors["page_request_overflow"];
    driver_.registers.write({{reg::kPrs, 4, page_request_status::kOverflow}},
                            [this] { records_taken(); });
  });
}

void PageServer::records_taken() {
  is_serving_ = false;
  use.set(0, now());
  if (has_new_records_) {
    serve();
  }
}

void PageServer::take_request(const PageRequest& request) {
  if (request.is_stop_marker()) {
    return;
  }
  constexpr unsigned kFirstStageLevels = 4;  // of the tables that it maps in
  ++requests_out_;
  PageGroup& group = groups_[{request.function.value, request.prg_index}];
  ++group.out;
  group.has_last = group.has_last || request.is_last;
  const std::optional<Index> page =
      driver_.pages.find(request.function, request.pasid, request.page);
  // [PRI-40]
  if (!page || driver_.pages.domain_of(*page).is_over || request.execute || request.privileged ||
      !is_canonical(request.page, kFirstStageLevels) ||
      driver_.random.chance(driver_.config.refuse_fraction)) {
    ++driver_.counts.page_requests_refused;
    answer(request, false);
    return;
  }
  driver_.pages.page(*page).is_wanted = true;
  driver_.note_wait(driver_.config.map_latency);
  driver_.bridge.after(driver_.config.map_latency, [this, request, page = *page] {
    ++driver_.counts.page_requests_served;
    map_wanted(page);
    answer(request, true);
  });
}

// A group has one answer, once its last request is there and all of it are settled: refused where
// one of it was. [PRI-02] [PRI-08]
void PageServer::answer(const PageRequest& request, bool is_granted) {
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
  const DriverDomain* const domain = driver_.pages.find_function(request.function);
  if (domain == nullptr || domain->responds_with_pasid) {
    response.pasid = request.pasid;
  }
  driver_.ring.submit({encode(response)});
}

// With CM=0 no cache keeps that the page was not there. [IOM-6.2] [PAS-42]
void PageServer::map(Index page) {
  DriverPages& pages = driver_.pages;
  if (pages.page(page).frame || pages.page(page).is_wanted || pages.domain_of(page).is_over) {
    return;
  }
  pages.map(page);
  ++driver_.counts.maps;
  if (is_set(driver_.capabilities, 7)) {  // CAP.CM
    driver_.ring.submit({driver_.agent_invalidation(
        pages.domain_of(page), PageRange::around(pages.address(page), pages.page_bits()))});
  }
}

void PageServer::map_wanted(Index page) {
  driver_.pages.page(page).is_wanted = false;
  map(page);
}

}  // namespace flitwise
