// SPDX-License-Identifier: Apache-2.0
/// One message after the other: when, whose, which way, how long, where. What a device makes of a
/// message is not decided here.
#pragma once

#include <cstdint>
#include <vector>

#include "common/random.h"
#include "flitwise/config.h"
#include "flitwise/ids.h"
#include "flitwise/time.h"
#include "workload/arrivals.h"
#include "workload/domain_chooser.h"
#include "workload/size_distribution.h"

namespace flitwise {

struct Message {
  Time at{};
  DomainId domain{};
  bool ends_context = false;
  bool is_read = false;
  std::uint32_t bytes = 0;
  std::uint64_t address = 0;  ///< of the payload
};

/// The domains' payload buffers, one after the other from workload.buffer_base. A message starts at
/// a multiple of the next power of two of its length, at most of 4 KiB, so that none up to that
/// length crosses a 4 KiB boundary and the number of its TLPs depends on its length alone. In a
/// ring it stands behind the one before, and starts again at the first byte rather than wrap; at
/// random it stands at any such place.
class Buffers {
 public:
  /// REQUIRES: base and size are multiples of 4 KiB.
  Buffers(std::uint64_t base, std::uint64_t size, std::uint32_t domains,
          BufferPlacement placement = BufferPlacement::kRing, Random random = Random(0));
  /// Address for the domain's next message. REQUIRES: bytes <= size of the buffer.
  std::uint64_t place(DomainId domain, std::uint32_t bytes);

 private:
  std::uint64_t next_in_ring(std::uint32_t index, std::uint32_t bytes, std::uint64_t alignment);

  std::uint64_t base_;
  std::uint64_t size_;
  BufferPlacement placement_;
  Random random_;
  std::vector<std::uint64_t> offsets_;
};

/// Streams for sizes, domains, arrivals and op mix are split from one seed, so that a change of one
/// leaves the others as they were.
class MessageSource {
 public:
  /// Throws ConfigError where a value or the size table is unusable.
  MessageSource(const WorkloadConfig& config, std::uint64_t seed, std::uint64_t warmup);

  /// False after the last message. Allocates nothing.
  bool next(Message& message);

  std::uint64_t requests() const { return requests_; }

 private:
  std::uint64_t requests_;
  std::uint64_t left_;
  double read_share_;
  std::uint32_t fixed_bytes_;  ///< 0: drawn
  SizeDistribution sizes_;
  Buffers buffers_;
  Arrivals arrivals_;
  Random size_random_;
  Random mix_random_;
  DomainChooser domains_;
};

}  // namespace flitwise
