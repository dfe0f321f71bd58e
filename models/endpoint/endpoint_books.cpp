// SPDX-License-Identifier: Apache-2.0
// The function shell: its figures and checks, and what it waits for.
#include <fmt/format.h>

#include "endpoint/endpoint.h"

namespace flitwise {

bool Endpoint::is_quiet() const {
  return outbox_.empty() && outstanding_.size() == 0 && !has_current_ && ends_.empty() &&
         target_.is_quiet() && (raw_ == nullptr || raw_->is_done()) &&
         (ats_ == nullptr || ats_->parked.empty());
}

void Endpoint::start_window() {
  dhi_.start_window();
  if (ats_ != nullptr) {
    ats_->start_window();
  }
  outbox_.waits().start_window(now());
  window_tags_ = tag_stall_.total(now());
  window_handle_ = handle_stall_.total(now());
}

StallTimes Endpoint::stalls() const {
  StallTimes stalls{};
  stalls.tags = tag_stall_.total(now()) - window_tags_;
  stalls.handle = handle_stall_.total(now()) - window_handle_;
  return stalls;
}

DhiResult Endpoint::dhi_result() const {
  DhiResult result = dhi_.result(basename());
  result.stall = handle_stall_.total(now()) - window_handle_;
  return result;
}

std::vector<AtsResult> Endpoint::ats_results() const {
  return ats_ != nullptr ? ats_->results(basename()) : std::vector<AtsResult>{};
}

std::vector<WaitResult> Endpoint::waits() const {
  std::vector<WaitResult> all = {outbox_.waits().result(basename(), "link_queues")};
  if (ats_ != nullptr) {
    for (WaitResult& one : ats_->parked.waits(basename())) {
      all.push_back(std::move(one));
    }
  }
  return all;
}

std::vector<CheckResult> Endpoint::checks() const {
  const std::string at = basename();
  const EndpointCounters& c = counters_;
  std::vector<CheckResult> all = {
      {at + ": every request is answered", outstanding_.size() == 0,
       fmt::format("{} wait", outstanding_.size())},
      {at + ": all tags are back", outstanding_.tags_out() == 0,
       fmt::format("{} are out", outstanding_.tags_out())},
      {at + ": bytes asked for have come or failed",
       c.asked_bytes == c.delivered_bytes + c.failed_bytes,
       fmt::format("{} asked, {} delivered, {} failed", c.asked_bytes, c.delivered_bytes,
                   c.failed_bytes)},
  };
  if (ats_ != nullptr) {
    for (CheckResult& check : ats_->checks(at)) {
      all.push_back(std::move(check));
    }
  }
  return all;
}

std::string Endpoint::waiting() const {
  std::string text;
  if (outstanding_.size() > 0) {
    const std::optional<OutstandingRequests::Oldest> oldest = outstanding_.oldest();
    text += fmt::format("{}: {} requests wait for completions, the oldest has tag {}\n", name(),
                        outstanding_.size(), oldest->tag);
  }
  if (!outbox_.empty()) {
    text +=
        fmt::format("{}: {} packets wait for room in the link's queues\n", name(), outbox_.size());
  }
  if (has_current_) {
    text += fmt::format(
        "{}: a transfer of domain {} waits for a tag, a handle or room in the link's queues\n",
        name(), to_int(active_[current_].transfer.domain));
  }
  const auto say = [&](const char* who, const std::string& what) {
    text += what.empty() ? "" : fmt::format("{}: {}: {}\n", name(), who, what);
  };
  say("target", target_.waiting());
  if (ats_ != nullptr) {
    say("translations", ats_->waiting());
  }
  for (const Engine* const engine : engines_) {
    say("engine", engine->waiting());
  }
  if (raw_ != nullptr) {
    say("engine", raw_->waiting());
  }
  return text;
}

}  // namespace flitwise
