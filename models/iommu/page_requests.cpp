// SPDX-License-Identifier: Apache-2.0
// Page requests at the agent: order, and what becomes of each.
#include "iommu/page_requests.h"

#include <fmt/format.h>

#include "common/ranges.h"
#include "flitwise/link_socket.h"

namespace flitwise {
namespace {

WalkRequest context_check_of(const PageRequest& request) {
  WalkRequest walk;
  walk.source = request.function;
  walk.pasid = request.pasid;
  walk.address = request.page;
  walk.kind = WalkKind::kPageRequest;
  walk.wish.read = request.read;
  walk.wish.write = request.write;
  walk.wish.execute = request.execute;
  walk.wish.privileged = request.privileged;
  return walk;
}

}  // namespace

void PageRequests::receive(const PageRequest& request, std::uint32_t token) {
  ++received_;
  Entry entry;
  entry.request = request;
  entry.ticket = next_ticket_++;
  waiting_.push_back(entry);
  if (registers_.translates()) {
    translations_.translate(*this, entry.ticket, context_check_of(request), token, Time{}, now());
  } else {
    waiting_.back().is_known = waiting_.back().is_allowed = true;
    waiting_.back().when = now();
    proceed();
  }
}

void PageRequests::translated(std::uint64_t ticket, const WalkResult& result, Time when) {
  Entry& entry = *find_if(waiting_, [&](const Entry& one) { return one.ticket == ticket; });
  entry.is_known = true;
  entry.is_allowed = result.outcome != WalkOutcome::kFault;
  entry.pasid = result.pasid;
  entry.when = when;
  proceed();
}

// In the order of arrival: the last request of a group comes behind all others of it. [PRI-02]
void PageRequests::proceed() {
  if (is_proceeding_) {
    return;
  }
  is_proceeding_ = true;
  while (!waiting_.empty() && waiting_.front().is_known) {
    const Entry entry = waiting_.front();
    waiting_.pop_front();
    admit(entry);
  }
  is_proceeding_ = false;
}

// With its translation off, the agent takes no page requests. [PRI-18] [PRI-39]
void PageRequests::admit(const Entry& entry) {
  const PageRequest& request = entry.request;
  const Time delay = std::max(entry.when, now()) - now();
  if (!entry.is_allowed) {
    respond(answer_to(request, PrgCode::kInvalidRequest), request, delay);
    return;
  }
  translations_.forget_page(request.function, entry.pasid, request.page);
  const PageRequestQueue::Admission admission =
      queue_.admit(request, registers_.translates(), registers_);
  events_.interrupt(admission.interrupt);
  respond(admission.answer, request, delay);
  if (admission.record) {
    recorded_.push_back(request);
    const PageRequestRecord record = encode_page_request(request);
    memory_.write(agent_tag::kPageRequests, *admission.record, record.data(),
                  kPageRequestRecordBytes, delay);
  }
}

void PageRequests::respond(std::optional<PrgCode> answer, const PageRequest& request, Time delay) {
  if (answer) {
    events_.respond(prg_response_to(request, kRootComplexId, *answer, responds_with_pasid_), delay);
  }
}

void PageRequests::memory_done(bool is_ok, Time when) {
  written_.push_back({when, is_ok});
  events_.wake_at(when);
}

void PageRequests::work(Time t) {
  while (next_due() <= t) {
    const bool is_ok = written_.front().is_ok;
    const PageRequest request = recorded_.front();
    written_.pop_front();
    recorded_.pop_front();
    if (is_ok) {
      events_.interrupt(queue_.written(registers_));
    } else {
      respond(queue_.write_failed(request, registers_), request, Time{});
    }
    events_.settle();
  }
}

std::string PageRequests::waiting(const char* at) const {
  std::string text;
  if (!is_quiet()) {
    text += fmt::format("{}: {} page requests wait for their context, {} for memory\n", at,
                        waiting_.size(), recorded_.size());
  }
  if (never_answers_dropped_ && dropped() > 0) {
    text += fmt::format(
        "{}: {} page requests were dropped, since their queue had no room, and will never be "
        "answered (iommu.page_requests.overflow: drop)\n",
        at, dropped());
  }
  return text;
}

}  // namespace flitwise
