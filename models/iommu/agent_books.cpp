// SPDX-License-Identifier: Apache-2.0
// The translation agent: its figures and checks, and what it waits for.
#include <fmt/format.h>

#include "iommu/translation_agent.h"

namespace flitwise {

bool TranslationAgent::is_quiet() const {
  return waiting_jobs_ == 0 && queue_step_ == QueueStep::kNone && !queue_.is_waiting() && !held_ &&
         device_tlbs_.all_outstanding() == 0 && handle_orders_.outstanding() == 0 &&
         page_requests_.is_quiet() && idle_.size() == walkers_.size();
}

std::string TranslationAgent::waiting() const {
  const std::size_t busy = walkers_.size() - idle_.size();
  std::string text;
  if (busy > 0 || waiting_jobs_ > 0) {
    text += fmt::format("{}: {} walks under way, {} requests wait for one\n", name(), busy,
                        waiting_jobs_);
  }
  if (queue_.is_waiting()) {
    text += fmt::format("{}: a wait descriptor waits for what was before it\n", name());
  }
  if (device_tlbs_.all_outstanding() > 0) {
    text += fmt::format("{}: {} Invalidate Requests wait for devices{}\n", name(),
                        device_tlbs_.all_outstanding(),
                        held_ ? ", and one for an ITag of its function" : "");
  }
  if (handle_orders_.outstanding() > 0) {
    text += fmt::format("{}: {} DEALLOC messages wait for devices\n", name(),
                        handle_orders_.outstanding());
  }
  if (const std::string pages = page_requests_.waiting(); !pages.empty()) {
    text += fmt::format("{}: {}\n", name(), pages);
  }
  return text;
}

IommuResult TranslationAgent::counts_so_far() const {
  IommuResult result = counts_;
  result.name = name();
  result.page_requests = page_requests_.received();
  result.page_requests_dropped = page_requests_.dropped();
  return result;
}

void TranslationAgent::start_window() {
  window_ = counts_so_far();
  ++window_number_;
  walker_waits_.start_window(now());
  walker_use_.start_window(now());
  walk_waits_.start_window(now());
}

IommuResult TranslationAgent::result() const {
  IommuResult result = counts_so_far();
  result -= window_;
  return result;
}

std::vector<WaitResult> TranslationAgent::waits() const {
  WaitResult walkers = walker_waits_.result(
      {name(), "walkers", ResourceRole::kServer, "up", "", "iommu.walkers", walkers_.size()});
  walkers.peak = walker_use_.peak();
  walkers.busy = walker_use_.mean(now()) / static_cast<double>(walkers_.size());
  return {std::move(walkers),
          walk_waits_.result({name(), "pending_walks", ResourceRole::kQueue, "up"})};
}

std::vector<CheckResult> TranslationAgent::checks() const {
  return {{std::string(name()) + ": one outcome for each request",
           !is_quiet() || asked_ == answered_,
           fmt::format("{} translations asked for, {} outcomes", asked_, answered_)}};
}

}  // namespace flitwise
