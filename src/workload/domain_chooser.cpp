// SPDX-License-Identifier: Apache-2.0
// The five ways to choose a domain.
#include "workload/domain_chooser.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace flitwise {
namespace {

/// Weights 1 / rank^exponent for rank 1..count: Zipf's law. REQUIRES: exponent >= 0.
std::vector<double> zipf_weights(std::uint32_t count, double exponent) {
  std::vector<double> weights(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    weights[i] = std::pow(i + 1.0, -exponent);
  }
  return weights;
}

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

// Each column is filled up to the mean weight with a share of one larger weight.
AliasTable::AliasTable(const std::vector<double>& weights) : columns_(weights.size()) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto count = static_cast<double>(weights.size());
  std::vector<double> scaled(weights.size());
  std::vector<std::uint32_t> small;
  std::vector<std::uint32_t> large;
  for (std::uint32_t i = 0; i < weights.size(); ++i) {
    scaled[i] = weights[i] * count / sum;
    (scaled[i] < 1 ? small : large).push_back(i);
  }
  while (!small.empty() && !large.empty()) {
    const std::uint32_t low = small.back();
    const std::uint32_t high = large.back();
    small.pop_back();
    columns_[low] = {static_cast<std::uint64_t>(scaled[low] * 0x1.0p64), high};
    scaled[high] -= 1 - scaled[low];
    if (scaled[high] < 1) {
      large.pop_back();
      small.push_back(high);
    }
  }
  // What is left over is full up to rounding.
  for (const std::vector<std::uint32_t>* rest : {&small, &large}) {
    for (const std::uint32_t i : *rest) {
      columns_[i] = {std::numeric_limits<std::uint64_t>::max(), i};
    }
  }
}

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
