// SPDX-License-Identifier: Apache-2.0
// The five ways to choose a domain.
#include "workload/domain_chooser.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace flitwise {

namespace {

/// Brings a random choice of `count` domains, in random order, to the front (Fisher-Yates).
void shuffle_front(std::vector<std::uint32_t>& domains, std::size_t count, Random& random) {
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(domains[i], domains[i + random.below(domains.size() - i)]);
  }
}

/// The index after this one, in a ring.
std::size_t after(std::size_t index, std::size_t size) {
  return index + 1 == size ? 0 : index + 1;
}

}  // namespace

DomainChooser::DomainChooser(const WorkloadConfig& config, const Random& random)
    : choice_(config.domain_choice),
      domains_(config.domains),
      members_(std::clamp(config.working_set, 1U, config.domains)),
      phase_requests_(std::max<std::uint64_t>(config.phase_requests, 1)),
      churn_(config.churn),
      random_(choice_ == DomainChoice::kZipf ? random.split("draws") : random) {
  std::iota(domains_.begin(), domains_.end(), 0U);
  if (choice_ == DomainChoice::kZipf) {
    ranks_.emplace(zipf_weights(config.domains, config.zipf_exponent));
    // Neighbours in popularity are not to be neighbours in function or PASID.
    Random shuffler = random.split("ranks");
    shuffle_front(domains_, domains_.size(), shuffler);
  }
  if (choice_ == DomainChoice::kChurn) {
    resting_.resize(domains_.size() * (kChurnPoolFactor - 1));
    std::iota(resting_.begin(), resting_.end(), config.domains);
  }
}

ChosenDomain DomainChooser::next() {
  switch (choice_) {
    case DomainChoice::kRoundRobin:
      next_ = after(next_, domains_.size());
      return {DomainId{domains_[next_]}, false};
    case DomainChoice::kUniform:
      break;
    case DomainChoice::kZipf:
      return {DomainId{domains_[ranks_->draw(random_)]}, false};
    case DomainChoice::kWorkingSet:
      if (left_in_phase_ == 0) {
        shuffle_front(domains_, members_, random_);
        left_in_phase_ = phase_requests_;
      }
      --left_in_phase_;
      return {DomainId{domains_[random_.below(members_)]}, false};
    case DomainChoice::kChurn:
      return next_of_churn();
  }
  return {DomainId{domains_[random_.below(domains_.size())]}, false};
}

ChosenDomain DomainChooser::next_of_churn() {
  std::uint32_t& slot = domains_[random_.below(domains_.size())];
  const DomainId domain{slot};
  const bool ends = random_.chance(churn_);
  if (ends) {
    std::swap(slot, resting_[oldest_]);
    oldest_ = after(oldest_, resting_.size());
  }
  return {domain, ends};
}

}  // namespace flitwise
