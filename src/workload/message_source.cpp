// SPDX-License-Identifier: Apache-2.0
// Draws messages and places them in their domain's buffer.
#include "workload/message_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "common/page.h"
#include "flitwise/error.h"
#include "workload/workload.h"

namespace flitwise {

namespace {

/// Smallest power of two at or above the length, 4 bytes to 4 KiB.
std::uint64_t alignment_of(std::uint32_t bytes) {
  if (bytes >= kPageBytes) {
    return kPageBytes;
  }
  return bytes <= 4 ? 4 : std::uint64_t{1} << (32 - __builtin_clz(bytes - 1));
}

double read_share_of(const WorkloadConfig& config) {
  switch (config.kind) {
    case WorkloadKind::kRead:
      return 1;
    case WorkloadKind::kReadWrite:
    case WorkloadKind::kNic:
      return config.read_fraction;
    case WorkloadKind::kPostedWrite:
    case WorkloadKind::kTrace:
    case WorkloadKind::kHostile:
      break;
  }
  return 0;
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
    refuse("workload.rate_mrps",
           fmt::format("is {}; expected more than 0 for open arrivals", config.rate_mrps));
  }
  if (!problems.empty()) {
    throw ConfigError(std::move(problems));
  }
  return config;
}

SizeDistribution sizes_of(const WorkloadConfig& config) {
  return config.sizes.empty()
             ? SizeDistribution::fixed(static_cast<std::uint32_t>(config.payload))
             : SizeDistribution::load(config.sizes, static_cast<std::uint32_t>(config.size_cap));
}

}  // namespace

Buffers::Buffers(std::uint64_t base, std::uint64_t size, std::uint32_t domains,
                 BufferPlacement placement, Random random)
    : base_(base), size_(size), placement_(placement), random_(random), offsets_(domains, 0) {}

std::uint64_t Buffers::place(DomainId domain, std::uint32_t bytes) {
  const std::uint32_t index = to_int(domain);
  const std::uint64_t alignment = alignment_of(bytes);
  const std::uint64_t start = placement_ == BufferPlacement::kRing
                                  ? next_in_ring(index, bytes, alignment)
                                  : random_.below((size_ - bytes) / alignment + 1) * alignment;
  return base_ + index * size_ + start;
}

std::uint64_t Buffers::next_in_ring(std::uint32_t index, std::uint32_t bytes,
                                    std::uint64_t alignment) {
  std::uint64_t start = (offsets_[index] + alignment - 1) & ~(alignment - 1);
  if (start + bytes > size_) {
    start = 0;
  }
  offsets_[index] = start + bytes;
  return start;
}

MessageSource::MessageSource(const WorkloadConfig& config, std::uint64_t seed, std::uint64_t warmup)
    : requests_(checked(config).requests + warmup),
      left_(requests_),
      read_share_(read_share_of(config)),
      fixed_bytes_(config.sizes.empty() ? static_cast<std::uint32_t>(config.payload) : 0),
      sizes_(sizes_of(config)),
      buffers_(config.buffer_base, config.buffer_size, domain_ids(config), config.placement,
               Random(seed).split("placement")),
      arrivals_(config, Random(seed).split("arrivals")),
      size_random_(Random(seed).split("sizes")),
      mix_random_(Random(seed).split("op_mix")),
      domains_(config, Random(seed).split("domains")) {}

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
  message.bytes = fixed_bytes_ != 0 ? fixed_bytes_ : sizes_.draw(size_random_);
  message.address = buffers_.place(chosen.domain, message.bytes);
  return true;
}

}  // namespace flitwise
