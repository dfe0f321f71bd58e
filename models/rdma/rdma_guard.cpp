// SPDX-License-Identifier: Apache-2.0
#include "rdma/rdma_guard.h"

#include <fmt/format.h>

#include <utility>

#include "tlp/splitter.h"

namespace flitwise {
namespace {

constexpr unsigned bit_of(RdmaPart part) {
  return 1U << static_cast<unsigned>(part);
}

}  // namespace

// What only requests of its own software touch is nobody's where that posts none.
RdmaGuard::RdmaGuard(std::string device, const VerbsDriverConfig& config)
    : Bystander(device + "_guard"), device_(std::move(device)), config_(config) {
  const unsigned both =
      bit_of(RdmaPart::kState) | bit_of(RdmaPart::kWord) | bit_of(RdmaPart::kExposed);
  const unsigned own = config.posts ? bit_of(RdmaPart::kOwn) : 0;
  readable_ = both | own | (config.posts ? bit_of(RdmaPart::kSendRing) : 0) |
              (config.peer_sends ? bit_of(RdmaPart::kReceiveRing) : 0);
  writable_ = both | own | bit_of(RdmaPart::kCompletions) |
              (config.peer_sends ? bit_of(RdmaPart::kBuffers) : 0);
}

void RdmaGuard::see(const Packet& packet, std::uint64_t address) {
  const Tlp& tlp = packet.tlp;
  if (is_zero_length_read(tlp)) {
    return;
  }
  const bool is_read = tlp.type == TlpType::kMRd;
  const std::uint32_t bytes = is_read ? byte_count_of(tlp) : enabled_bytes(tlp);
  address += tlp.first_be == 0 ? 0U : static_cast<unsigned>(__builtin_ctz(tlp.first_be));
  const std::uint32_t pair = to_int(packet.domain);
  const RdmaArea own = config_.hca.area(pair);
  const RdmaPart part = own.part_of(address, bytes);
  // What a hostile guest has of its own is its own affair.
  const bool may = config_.hca.is_hostile(config_.hca.place_of(pair))
                       ? address >= own.base() && address - own.base() <= own.bytes() - bytes
                       : ((is_read ? readable_ : writable_) & bit_of(part)) != 0;
  ++seen_;
  if (!may && ++beyond_ == 1) {
    first_ = fmt::format(", the first a {} of queue pair {} at {:#x}", is_read ? "read" : "write",
                         pair + kFirstQueuePair, address);
  }
}

std::vector<CheckResult> RdmaGuard::checks() const {
  return {{device_ + ": the adapter touched only what its software has granted", beyond_ == 0,
           fmt::format("{} accesses, {} beyond{}", seen_, beyond_, first_)}};
}

}  // namespace flitwise
