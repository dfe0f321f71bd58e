// SPDX-License-Identifier: Apache-2.0
// Header of a message: request, flags, bytes of payload; 32 bits each.
#include "uml/vhost_device.h"

#include <boost/endian/conversion.hpp>

#include <array>
#include <utility>

#include "uml/unix_socket.h"

namespace flitwise {
namespace {

using namespace boost::endian;

constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kIsReply = 1U << 2;
constexpr std::uint32_t kNeedsReply = 1U << 3;
constexpr std::size_t kHeaderBytes = 12;
constexpr std::uint32_t kMostPayload = 4096;

constexpr std::uint32_t kGetFeatures = 1;
constexpr std::uint32_t kSetFeatures = 2;
constexpr std::uint32_t kSetOwner = 3;
constexpr std::uint32_t kSetMemoryTable = 5;
constexpr std::uint32_t kSetQueueSize = 8;
constexpr std::uint32_t kSetQueueAddresses = 9;
constexpr std::uint32_t kSetQueueBase = 10;
constexpr std::uint32_t kGetProtocolFeatures = 15;
constexpr std::uint32_t kSetProtocolFeatures = 16;
constexpr std::uint32_t kSetQueueEnable = 18;
constexpr std::uint32_t kSetCallSocket = 21;
constexpr std::uint32_t kKick = 35;
constexpr std::uint32_t kCall = 4;  // on the socket of calls

constexpr std::uint64_t kFeatures = std::uint64_t{1} << 32 |  // VIRTIO_F_VERSION_1
                                    std::uint64_t{1} << 30;   // there are protocol features
// Replies to all, a socket for calls, and kicks and calls as messages: without it nobody could tell
// at which time they come.
constexpr std::uint64_t kProtocolFeatures = 1U << 3 | 1U << 5 | 1U << 14;

}  // namespace

std::uint64_t VhostMessage::u64(std::size_t at) const {
  return at + 8 <= payload.size() ? load_little_u64(payload.data() + at) : 0;
}

std::uint32_t VhostMessage::u32(std::size_t at) const {
  return at + 4 <= payload.size() ? load_little_u32(payload.data() + at) : 0;
}

bool receive_message(int socket, VhostMessage& message) {
  std::array<std::uint8_t, kHeaderBytes> header;
  message.files.clear();
  if (!receive_all(socket, header.data(), header.size(), &message.files)) {
    return false;
  }
  message.request = load_little_u32(header.data());
  message.flags = load_little_u32(header.data() + 4);
  const std::uint32_t size = load_little_u32(header.data() + 8);
  if (size > kMostPayload) {
    return false;
  }
  message.payload.resize(size);
  return receive_all(socket, message.payload.data(), size, &message.files);
}

bool send_message(int socket, const VhostMessage& message) {
  std::vector<std::uint8_t> bytes(kHeaderBytes);
  store_little_u32(bytes.data(), message.request);
  store_little_u32(bytes.data() + 4, message.flags);
  store_little_u32(bytes.data() + 8, static_cast<std::uint32_t>(message.payload.size()));
  bytes.insert(bytes.end(), message.payload.begin(), message.payload.end());
  return send_all(socket, bytes.data(), bytes.size());
}

void VhostDevice::reply(const VhostMessage& to, std::uint64_t value) {
  VhostMessage answer;
  answer.request = to.request;
  answer.flags = kVersion | kIsReply;
  answer.payload.resize(8);
  store_little_u64(answer.payload.data(), value);
  send_message(socket_.get(), answer);  // one that is gone comes out when the next is read
}

void VhostDevice::serve() {
  VhostMessage message;
  if (!receive_message(socket_.get(), message)) {
    socket_.close();
    calls_.close();
    return;
  }
  if (message.request == kGetFeatures) {
    reply(message, kFeatures);
  } else if (message.request == kGetProtocolFeatures) {
    reply(message, kProtocolFeatures);
  } else if (const bool is_good = handle(message); (message.flags & kNeedsReply) != 0) {
    reply(message, is_good ? 0 : 1);
  }
}

bool VhostDevice::handle(VhostMessage& message) {
  switch (message.request) {
    case kSetOwner:
    case kSetFeatures:
    case kSetProtocolFeatures: return true;
    case kSetMemoryTable: return set_memory(message);
    case kSetCallSocket:
      if (message.files.size() != 1) {
        return false;
      }
      calls_ = std::move(message.files.front());
      return true;
    default: return set_queue(message);
  }
}

// Number of regions, four bytes reserved, and four numbers for each.
bool VhostDevice::set_memory(VhostMessage& message) {
  constexpr std::size_t kRegionBytes = 32;
  for (Virtqueue& one : queues_) {
    one.forget_rings();
  }
  memory_.clear();
  const std::uint32_t count = message.u32();
  if (count != message.files.size() || message.payload.size() < 8 + count * kRegionBytes) {
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = 8 + i * kRegionBytes;
    const GuestRegion region{message.u64(at), message.u64(at + 8), message.u64(at + 16),
                             message.u64(at + 24)};
    if (!memory_.add(region, std::move(message.files[i]))) {
      return false;
    }
  }
  memory_given_(memory_);
  return true;
}

// Messages about one queue, which they name first.
bool VhostDevice::set_queue(const VhostMessage& message) {
  const std::uint32_t index = message.u32();
  if (index >= kQueues || message.payload.size() < 8) {
    return false;
  }
  Virtqueue& queue = queues_[index];
  const std::uint32_t value = message.u32(4);
  switch (message.request) {
    case kSetQueueSize: return queue.set_entries(value);
    case kSetQueueBase: queue.set_next(static_cast<std::uint16_t>(value)); return value <= 0xffff;
    case kSetQueueAddresses:
      return queue.set_rings(message.u64(8), message.u64(24), message.u64(16));
    case kSetQueueEnable: queue.set_enabled(value != 0); return true;
    case kKick: kicked_(*this, index); return true;
    default: return false;
  }
}

bool VhostDevice::call(unsigned queue) {
  VhostMessage message;
  message.request = kCall;
  message.flags = kVersion | kNeedsReply;
  message.payload.resize(8);
  store_little_u32(message.payload.data(), queue);
  return send_message(calls_.get(), message);
}

bool VhostDevice::take_call_answer() {
  VhostMessage message;
  return receive_message(calls_.get(), message);
}

}  // namespace flitwise
