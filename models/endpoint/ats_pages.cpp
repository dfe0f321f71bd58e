// SPDX-License-Identifier: Apache-2.0
// Translations of a device: page requests, and the books.
#include <fmt/format.h>

#include <numeric>

#include "endpoint/ats_unit.h"
#include "flitwise/link_socket.h"

namespace flitwise {
namespace {

constexpr unsigned kPageBits = kSmallestRangeBits;

bool may_wait_together(const AtsAccess& a, const AtsAccess& b) {
  return a.function == b.function && a.tag == b.tag && a.kind == b.kind &&
         a.address >> kPageBits == b.address >> kPageBits;
}

}  // namespace

// Nobody answers where it is off or has failed; without a free index or credit somebody will.
bool AtsUnit::can_ask_for_pages() const {
  return pages_ != nullptr && (pages_->can_open(0) || pages_->outstanding_groups() == kPrgIndices);
}

std::optional<std::uint16_t> AtsUnit::group_for(const AtsAccess& access) {
  std::optional<std::uint16_t> found;
  parked.for_each([&](Slot /*slot*/, const ParkedTransfer& transfer) {
    if (transfer.state == ParkedState::kAwaitsPage && may_wait_together(transfer.access, access)) {
      found = transfer.prg_index;
    }
  });
  return found;
}

PageRequest AtsUnit::open_group(const AtsAccess& access, Bdf bdf) {
  PageWish wish;
  wish.address = access.address;
  wish.write = access.kind == AccessKind::kWrite;
  wish.read = !wish.write;
  wish.execute = access.kind == AccessKind::kExecute;
  wish.privileged = access.tag.privileged;
  functions_[access.function]->counts.page_requests += access.counts ? 1U : 0U;
  return pages_->next_request(pages_->open_group(bdf, access.tag.pasid, 1), wish);
}

void AtsUnit::pages_written(Time when) {
  if (pages_ == nullptr) {
    return;
  }
  // While it drains, answers are still due.
  const bool is_answered = !pages_->is_enabled() && pages_->is_stopped();
  parked.for_each([&](Slot slot, const ParkedTransfer& transfer) {
    if (transfer.state == ParkedState::kWantsPage ||
        (transfer.state == ParkedState::kAwaitsPage && is_answered)) {
      release(slot, when);
    }
  });
}

void AtsUnit::page_is_there(std::uint16_t index, Time when) {
  parked.for_each([&](Slot slot, const ParkedTransfer& transfer) {
    if (transfer.state == ParkedState::kAwaitsPage && transfer.prg_index == index) {
      release(slot, when);
    }
  });
}

void AtsUnit::start_window() {
  parked.start_window(now());
  for (const std::unique_ptr<Function>& one : functions_) {
    if (one) {
      one->window = one->counts;
    }
  }
}

std::vector<AtsResult> AtsUnit::results(const std::string& device) const {
  std::vector<AtsResult> all;
  for (std::size_t index = 0; index < functions_.size(); ++index) {
    if (functions_[index] == nullptr) {
      continue;
    }
    AtsResult result = functions_[index]->counts;
    result -= functions_[index]->window;
    result.function = fmt::format("{}.{}", device, index);
    all.push_back(std::move(result));
  }
  return all;
}

unsigned AtsUnit::pending_invalidations() const {
  return std::accumulate(functions_.begin(), functions_.end(), 0U,
                         [](unsigned sum, const auto& one) {
                           return sum + (one ? one->atc.invalidations.pending() : 0U);
                         });
}

std::vector<CheckResult> AtsUnit::checks(const std::string& device) const {
  unsigned requests = 0;
  unsigned uses = 0;
  for (const std::unique_ptr<Function>& one : functions_) {
    requests += one ? one->atc.requests.size() : 0U;
    uses += one ? one->atc.uses.size() : 0U;
  }
  const unsigned invalidations = pending_invalidations();
  return {
      {device + ": every Translation Request has ended", requests == 0,
       fmt::format("{} are out", requests)},
      {device + ": no translation is in use", uses == 0, fmt::format("{} are", uses)},
      {device + ": every invalidation is answered", invalidations == 0,
       fmt::format("{} wait", invalidations)},
      {device + ": no transfer waits for a translation", parked.empty(),
       fmt::format("{} wait", parked.size())},
  };
}

std::string AtsUnit::waiting() const {
  std::string text;
  const auto say = [&](std::size_t count, const char* what) {
    text += count == 0 ? "" : fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  say(parked.count(ParkedState::kAwaitsReply), "transfers wait for Translation Completions");
  say(parked.count(ParkedState::kWantsRequest), "for room for a Translation Request");
  say(parked.count(ParkedState::kAwaitsPage), "for PRG Responses");
  say(parked.count(ParkedState::kWantsPage), "for credits for a Page Request");
  say(parked.count(ParkedState::kReady), "for their turn");
  say(pending_invalidations(), "invalidations wait for reads by their translations");
  return text;
}

}  // namespace flitwise
