// SPDX-License-Identifier: Apache-2.0
// State of the Page Request Interface.
#include "ats/page_request_interface.h"

#include <algorithm>
#include <string>

#include "common/page.h"
#include "flitwise/error.h"

namespace flitwise {

PageRequestInterface::PageRequestInterface(const PageRequestConfig& config) : config_(config) {
  FLITWISE_CHECK(config.capacity > 0, "page request capacity 0");
}

bool PageRequestInterface::write_control(bool enable, bool reset) {
  if (reset && (!is_enabled_ || !enable)) {
    close_all();
    is_stopped_ = true;
  }
  if (enable && !is_enabled_) {
    if (!is_stopped_) {
      return true;
    }
    is_enabled_ = true;
    is_stopped_ = has_failed_ = response_failure_ = unexpected_index_ = false;
  } else if (!enable && is_enabled_) {
    is_enabled_ = false;
    is_stopped_ = indices_.used().size() == 0;
  }
  return false;
}

void PageRequestInterface::write_status(bool response_failure, bool unexpected_index) {
  response_failure_ = response_failure_ && !response_failure;
  unexpected_index_ = unexpected_index_ && !unexpected_index;
}

bool PageRequestInterface::write_allocation(std::uint32_t requests) {
  if (is_enabled_) {
    return true;
  }
  allocation_ = config_.clamps_allocation ? std::min(requests, config_.capacity) : requests;
  return requests > config_.capacity;
}

void PageRequestInterface::reset() {
  close_all();
  allocation_ = 0;
  is_enabled_ = has_failed_ = response_failure_ = unexpected_index_ = false;
  is_stopped_ = true;
}

std::uint32_t PageRequestInterface::credits() const {
  const std::uint32_t granted = std::min(allocation_, config_.capacity);
  return granted > in_use_ ? granted - in_use_ : 0;
}

bool PageRequestInterface::can_open(unsigned pages) const {
  return is_enabled_ && !has_failed_ && indices_.free() != 0 && pages <= credits();
}

std::uint16_t PageRequestInterface::open_group(Bdf function, OptionalId<Pasid> pasid,
                                               unsigned pages) {
  FLITWISE_CHECK(pages > 0 && can_open(pages),
                 std::to_string(pages) + " pages, " + std::to_string(credits()) + " credits");
  const Slot index = indices_.take();
  groups_[index] = {function, pasid, pages, pages};
  in_use_ += pages;
  return static_cast<std::uint16_t>(index);
}

PageRequest PageRequestInterface::next_request(std::uint16_t index, const PageWish& wish) {
  Group& group = groups_[index % kPrgIndices];
  FLITWISE_CHECK(index < kPrgIndices && indices_.used().contains(index) && group.left > 0,
                 "PRG Index " + std::to_string(index));
  --group.left;
  PageRequest request;
  request.function = group.function;
  request.pasid = group.pasid;
  request.execute = group.pasid.has_value() && wish.execute;
  request.privileged = group.pasid.has_value() && wish.privileged;
  request.page = wish.address & kPageAddress;
  request.prg_index = index;
  request.is_last = group.left == 0;
  request.write = wish.write;
  request.read = wish.read;
  return request;
}

PageRequest PageRequestInterface::stop_marker(Bdf function, Pasid pasid) {
  PageRequest marker;
  marker.function = function;
  marker.pasid = pasid;
  marker.is_last = true;
  return marker;
}

PrgOutcome PageRequestInterface::respond(const PrgResponse& response) {
  if (has_failed_) {
    return PrgOutcome::kIgnored;
  }
  const PrgCode code = prg_code_of(response.code);
  if (code == PrgCode::kResponseFailure) {  // Its index need not name a group.
    close_all();
    has_failed_ = response_failure_ = true;
    is_stopped_ = !is_enabled_;
    return PrgOutcome::kFailure;
  }
  const Slot index = response.prg_index % kPrgIndices;
  if (!indices_.used().contains(index) || !is_answer_to(groups_[index], response)) {
    unexpected_index_ = true;
    return PrgOutcome::kUnexpected;
  }
  close(index);
  return code == PrgCode::kSuccess ? PrgOutcome::kSuccess : PrgOutcome::kInvalidRequest;
}

// A group can be answered once its last request is out. The handle of a response may have gone to
// another domain since the host sent it: the index, which is the device's own, decides. [DHI D22]
bool PageRequestInterface::is_answer_to(const Group& group, const PrgResponse& response) const {
  const bool is_pasid_due = config_.wants_response_pasid && group.pasid.has_value();
  const bool is_named =
      group.function == response.function && (!is_pasid_due || group.pasid == response.pasid);
  return group.left == 0 && (response.is_by_handle || is_named);
}

void PageRequestInterface::forget(Bdf function) {
  std::optional<Slot> next = indices_.used().front();
  while (next) {
    const Slot index = *next;
    next = indices_.used().next(index);
    if (groups_[index].function == function) {
      close(index);
    }
  }
}

void PageRequestInterface::close(Slot index) {
  indices_.give_back(index);
  in_use_ -= groups_[index].pages;
  if (!is_enabled_ && indices_.used().size() == 0) {
    is_stopped_ = true;
  }
}

void PageRequestInterface::close_all() {
  while (const std::optional<Slot> index = indices_.used().front()) {
    close(*index);
  }
}

}  // namespace flitwise
