// SPDX-License-Identifier: Apache-2.0
// Draws domains, times and messages, and places these in their domain's buffer.
#include "workload/message_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "common/page.h"
#include "flitwise/error.h"
#include "workload/workload.h"

namespace flitwise {
namespace {

constexpr double kFsPerRequestAtOneMrps = 1e9;  ///< one microsecond
constexpr double kLatest = 9.0e18;              ///< fs; below the range of Time

Time rounded(double fs) {
  return {std::llround(std::min(fs, kLatest))};
}

/// Smallest power of two at or above the length, 4 bytes to 4 KiB.
std::uint64_t alignment_of(std::uint32_t bytes) {
  if (bytes >= kPageBytes) {
    return kPageBytes;
  }
  return bytes <= 4 ? 4 : std::uint64_t{1} << (32 - __builtin_clz(bytes - 1));
}

double read_share_of(const WorkloadConfig& config) {
  const bool is_mixed =
      config.kind == WorkloadKind::kReadWrite || config.kind == WorkloadKind::kNic;
  return is_mixed ? config.read_fraction : config.kind == WorkloadKind::kRead ? 1 : 0;
}

/// The configuration itself if messages can be made from it; all that is wrong in one go if not.
const WorkloadConfig& checked(const WorkloadConfig& config) {
  std::vector<Problem> problems;
  const auto refuse = [&problems](const char* path, std::string message) {
    problems.push_back({"config", 0, 0, path, std::move(message)});
  };
  if (config.domains == 0) {
    refuse("workload.domains", "is 0; expected at least 1");
  }
  if (config.buffer_size == 0 || config.buffer_size % kPageBytes != 0) {
    refuse("workload.buffer_size",
           fmt::format("is {} bytes; expected a multiple of 4KiB", config.buffer_size));
  }
  if (config.buffer_base % kPageBytes != 0) {
    refuse("workload.buffer_base",
           fmt::format("is {} bytes; expected a multiple of 4KiB", config.buffer_base));
  }
  const bool is_drawn = !config.sizes.empty();
  const std::uint64_t longest = is_drawn ? config.size_cap : config.payload;
  const std::uint64_t most =
      std::min<std::uint64_t>(config.buffer_size, std::numeric_limits<std::uint32_t>::max());
  if (longest == 0 || longest > most) {
    refuse(
        is_drawn ? "workload.size_cap" : "workload.payload",
        fmt::format("is {} bytes; expected 1 to workload.buffer_size ({} bytes)", longest, most));
  }
  if (config.arrival != Arrival::kClosedLoop && !(config.rate_mrps > 0)) {
    refuse("workload.rate",
           fmt::format("is {}; expected more than 0 for open arrivals", config.rate_mrps));
  }
  if (!problems.empty()) {
    throw ConfigError(std::move(problems));
  }
  return config;
}

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
    case DomainChoice::kUniform: break;
    case DomainChoice::kZipf: return {DomainId{domains_[ranks_->draw(random_)]}, false};
    case DomainChoice::kWorkingSet:
      if (left_in_phase_ == 0) {
        shuffle_front(domains_, members_, random_);
        left_in_phase_ = phase_requests_;
      }
      --left_in_phase_;
      return {DomainId{domains_[random_.below(members_)]}, false};
    case DomainChoice::kChurn: return next_of_churn();
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

Arrivals::Arrivals(const WorkloadConfig& config, const Random& random)
    : kind_(config.arrival),
      gap_fs_(kFsPerRequestAtOneMrps / config.rate_mrps),
      burst_(std::max<std::uint64_t>(config.burst, 1)),
      random_(random) {}

void Arrivals::advance(double mean_gap_fs) {
  const double gap = random_.exponential(mean_gap_fs);
  now_ = gap < kLatest - static_cast<double>(now_.fs) ? now_ + rounded(gap) : rounded(kLatest);
}

Time Arrivals::next() {
  switch (kind_) {
    case Arrival::kClosedLoop: break;
    case Arrival::kCbr: return rounded(gap_fs_ * static_cast<double>(count_++));
    case Arrival::kPoisson: advance(gap_fs_); break;
    case Arrival::kOnOff:
      if (left_in_burst_ == 0) {
        advance(gap_fs_ * static_cast<double>(burst_));
        left_in_burst_ = burst_;
      }
      --left_in_burst_;
      break;
  }
  return now_;
}

MessageSource::MessageSource(const WorkloadConfig& config, std::uint64_t seed, std::uint64_t warmup)
    : left_(checked(config).requests + warmup),
      read_share_(read_share_of(config)),
      fixed_bytes_(static_cast<std::uint32_t>(config.payload)),
      buffer_base_(config.buffer_base),
      buffer_size_(config.buffer_size),
      placement_(config.placement),
      offsets_(domain_ids(config), 0),
      arrivals_(config, Random(seed).split("arrivals")),
      place_random_(Random(seed).split("placement")),
      size_random_(Random(seed).split("sizes")),
      mix_random_(Random(seed).split("op_mix")),
      domains_(config, Random(seed).split("domains")) {
  if (!config.sizes.empty()) {
    sizes_ = SizeDistribution::load(config.sizes, static_cast<std::uint32_t>(config.size_cap));
  }
}

bool MessageSource::next(Message& message) {
  if (left_ == 0) {
    return false;
  }
  --left_;
  const ChosenDomain chosen = domains_.next();
  message.at = arrivals_.next();
  message.domain = chosen.domain;
  message.ends_context = chosen.ends_context;
  message.is_read = mix_random_.chance(read_share_);
  message.bytes = sizes_ ? sizes_->draw(size_random_) : fixed_bytes_;
  message.address = place(chosen.domain, message.bytes);
  return true;
}

// The domains' payload buffers stand one after the other. A message starts at a multiple of the
// next power of two of its length, at most of 4 KiB, so that none up to that length crosses a 4 KiB
// boundary and the number of its TLPs depends on its length alone. In a ring it stands behind the
// one before, and starts again at the first byte rather than wrap; at random it stands at any such
// place.
std::uint64_t MessageSource::place(DomainId domain, std::uint32_t bytes) {
  const std::uint32_t index = to_int(domain);
  const std::uint64_t alignment = alignment_of(bytes);
  std::uint64_t start = 0;
  if (placement_ == BufferPlacement::kRing) {
    const std::uint64_t behind = (offsets_[index] + alignment - 1) & ~(alignment - 1);
    start = behind + bytes > buffer_size_ ? 0 : behind;
    offsets_[index] = start + bytes;
  } else {
    start = place_random_.below((buffer_size_ - bytes) / alignment + 1) * alignment;
  }
  return buffer_base_ + index * buffer_size_ + start;
}

}  // namespace flitwise
