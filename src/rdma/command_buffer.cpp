// SPDX-License-Identifier: Apache-2.0
#include "rdma/command_buffer.h"

#include <boost/endian/conversion.hpp>

namespace flitwise {
namespace {

// Bytes of an entry that nothing else uses.
constexpr unsigned kNumberAt = 10, kQueuePairAt = 44;
constexpr std::uint32_t kHasPayload = std::uint32_t{1} << 31;

}  // namespace

void put_command(SendEntry& entry, const Command& command) {
  boost::endian::store_little_u16(&entry[kNumberAt], command.number);
  boost::endian::store_little_u32(&entry[kQueuePairAt],
                                  command.queue_pair | (command.has_payload ? kHasPayload : 0));
}

Command command_of(const std::uint8_t* entry) {
  const std::uint32_t word = boost::endian::load_little_u32(entry + kQueuePairAt);
  return {word & 0xff'ffff, boost::endian::load_little_u16(entry + kNumberAt),
          (word & kHasPayload) != 0};
}

// Its first entry says how many bytes it has; 0: more than there is room for.
std::optional<std::uint32_t> CommandBuffer::due() const {
  if (filled_ < kWqeBytes) {
    return std::nullopt;
  }
  const auto work = decode_send(bytes_.data());
  if (!work || !command_of(bytes_.data()).has_payload) {
    return kWqeBytes;
  }
  const std::uint64_t payload = work->local.bytes();
  return payload > kMostInlineBytes ? 0 : command_bytes(static_cast<std::uint32_t>(payload));
}

CommandBuffer::Outcome CommandBuffer::write(std::uint64_t offset, const std::uint8_t* bytes,
                                            std::size_t size) {
  if (offset != filled_ || size > kMostCommandBytes - filled_) {
    drop();
    return Outcome::kBad;
  }
  std::copy_n(bytes, size, bytes_.begin() + filled_);
  filled_ += static_cast<std::uint32_t>(size);
  const auto all = due();
  if (!all || filled_ < *all) {
    return Outcome::kPartial;
  }
  const bool is_whole = filled_ == *all;
  size_ = filled_;
  drop();
  return is_whole ? Outcome::kComplete : Outcome::kBad;
}

}  // namespace flitwise
