// SPDX-License-Identifier: Apache-2.0
// The five ways to choose a domain.
#include "workload/domain_chooser.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "workload/alias_table.h"

namespace flitwise {

namespace {

std::vector<std::uint32_t> all_domains(std::uint32_t count) {
  std::vector<std::uint32_t> domains(count);
  std::iota(domains.begin(), domains.end(), 0U);
  return domains;
}

/// Brings a random choice of `count` domains, in random order, to the front (Fisher-Yates).
void shuffle_front(std::vector<std::uint32_t>& domains, std::size_t count, Random& random) {
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(domains[i], domains[i + random.below(domains.size() - i)]);
  }
}

class RoundRobin : public DomainChooser {
 public:
  explicit RoundRobin(std::uint32_t domains) : domains_(domains) {}

  ChosenDomain next() override {
    const DomainId domain{next_};
    next_ = next_ + 1 == domains_ ? 0 : next_ + 1;
    return {domain, false};
  }

 private:
  std::uint32_t domains_;
  std::uint32_t next_ = 0;
};

class Uniform : public DomainChooser {
 public:
  Uniform(std::uint32_t domains, const Random& random) : domains_(domains), random_(random) {}

  ChosenDomain next() override {
    return {DomainId{static_cast<std::uint32_t>(random_.below(domains_))}, false};
  }

 private:
  std::uint32_t domains_;
  Random random_;
};

/// The domain of each popularity rank is shuffled, so that neighbours in popularity are not
/// neighbours in function or PASID.
class Zipf : public DomainChooser {
 public:
  Zipf(std::uint32_t domains, double exponent, const Random& random)
      : ranks_(zipf_weights(domains, exponent)),
        domain_of_rank_(all_domains(domains)),
        random_(random.split("draws")) {
    Random shuffler = random.split("ranks");
    shuffle_front(domain_of_rank_, domain_of_rank_.size(), shuffler);
  }

  ChosenDomain next() override { return {DomainId{domain_of_rank_[ranks_.draw(random_)]}, false}; }

 private:
  AliasTable ranks_;
  std::vector<std::uint32_t> domain_of_rank_;
  Random random_;
};

/// Phases: a fresh random subset of the domains each, uniform inside it.
class WorkingSet : public DomainChooser {
 public:
  WorkingSet(const WorkloadConfig& config, const Random& random)
      : domains_(all_domains(config.domains)),
        members_(std::clamp(config.working_set, 1U, config.domains)),
        phase_requests_(std::max<std::uint64_t>(config.phase_requests, 1)),
        random_(random) {}

  ChosenDomain next() override {
    if (left_in_phase_ == 0) {
      shuffle_front(domains_, members_, random_);
      left_in_phase_ = phase_requests_;
    }
    --left_in_phase_;
    return {DomainId{domains_[random_.below(members_)]}, false};
  }

 private:
  std::vector<std::uint32_t> domains_;
  std::uint32_t members_;
  std::uint64_t phase_requests_;
  std::uint64_t left_in_phase_ = 0;
  Random random_;
};

/// A fixed number of live contexts, uniform among them. With each request its context ends with the
/// set probability, and the id that has rested longest starts in its place.
class Churn : public DomainChooser {
 public:
  Churn(std::uint32_t live, double probability, const Random& random)
      : live_(all_domains(live)),
        resting_(std::size_t{live} * (kChurnPoolFactor - 1)),
        probability_(probability),
        random_(random) {
    std::iota(resting_.begin(), resting_.end(), live);
  }

  ChosenDomain next() override {
    std::uint32_t& slot = live_[random_.below(live_.size())];
    const DomainId domain{slot};
    const bool ends = random_.chance(probability_);
    if (ends) {
      std::swap(slot, resting_[oldest_]);
      oldest_ = oldest_ + 1 == resting_.size() ? 0 : oldest_ + 1;
    }
    return {domain, ends};
  }

 private:
  std::vector<std::uint32_t> live_;
  std::vector<std::uint32_t> resting_;  ///< a ring: the swap puts the newest where the oldest was
  std::size_t oldest_ = 0;
  double probability_;
  Random random_;
};

}  // namespace

std::unique_ptr<DomainChooser> DomainChooser::make(const WorkloadConfig& config,
                                                   const Random& random) {
  switch (config.domain_choice) {
    case DomainChoice::kRoundRobin:
      return std::make_unique<RoundRobin>(config.domains);
    case DomainChoice::kUniform:
      return std::make_unique<Uniform>(config.domains, random);
    case DomainChoice::kZipf:
      return std::make_unique<Zipf>(config.domains, config.zipf_exponent, random);
    case DomainChoice::kWorkingSet:
      return std::make_unique<WorkingSet>(config, random);
    case DomainChoice::kChurn:
      return std::make_unique<Churn>(config.domains, config.churn, random);
  }
  return nullptr;
}

}  // namespace flitwise
