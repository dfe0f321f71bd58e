// SPDX-License-Identifier: Apache-2.0
// The function shell: its figures and checks, and what it waits for.
#include <fmt/format.h>

#include "endpoint/endpoint.h"
#include "tlp/json_value.h"

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
  DhiResult result = dhi_.result(name());
  result.stall = handle_stall_.total(now()) - window_handle_;
  return result;
}

std::vector<AtsResult> Endpoint::ats_results() const {
  return ats_ != nullptr ? ats_->results(name()) : std::vector<AtsResult>{};
}

std::vector<WaitResult> Endpoint::waits() const {
  std::vector<WaitResult> all = {outbox_.waits().result(name(), "link_queues")};
  if (ats_ != nullptr) {
    for (WaitResult& one : ats_->parked.waits(name())) {
      all.push_back(std::move(one));
    }
  }
  return all;
}

std::vector<CheckResult> Endpoint::checks() const {
  const std::string at = name();
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

// What the present transfer waits for.
std::string Endpoint::awaited_by(unsigned function) const {
  const Bdf bdf{static_cast<std::uint16_t>(base_.value + function)};
  if (functions_[function] == FunctionState::kInReset) {
    return "the end of the reset of " + json_value::bdf_text(bdf);
  }
  if (!is_bus_master_) {
    return "Bus Master Enable of " + json_value::bdf_text(base_);
  }
  return functions_[function] == FunctionState::kStopped
             ? "Bus Master Enable of " + json_value::bdf_text(bdf)
             : "a tag, a handle or room in the link's queues";
}

// Which functions may not send, where something of them may wait in an engine.
std::string Endpoint::held_back() const {
  if (functions_[0] != FunctionState::kInReset && !is_bus_master_) {
    return "all wait for Bus Master Enable of " + json_value::bdf_text(base_);
  }
  return not_running_ == 0
             ? ""
             : fmt::format("{} wait for Bus Master Enable or the end of a reset", not_running_);
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
    const DomainId domain = active_[current_].transfer.domain;
    text += fmt::format("{}: a transfer of domain {} waits for {}\n", name(), to_int(domain),
                        awaited_by(function_of(identity_of(domain).bdf)));
  }
  const auto say = [&](const char* who, const std::string& what) {
    text += what.empty() ? "" : fmt::format("{}: {}: {}\n", name(), who, what);
  };
  say("target", target_.waiting());
  if (ats_ != nullptr) {
    say("translations", ats_->waiting());
  }
  const std::size_t before = text.size();
  for (const Engine* const engine : engines_) {
    say("engine", engine->waiting());
  }
  if (raw_ != nullptr) {
    say("engine", raw_->waiting());
  }
  if (!has_current_ && text.size() != before) {
    say("functions", held_back());
  }
  return text;
}

}  // namespace flitwise
