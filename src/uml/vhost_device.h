// SPDX-License-Identifier: Apache-2.0
/// The device's end of vhost-user, as a virtio device of user-mode Linux speaks it
/// (arch/um/drivers/vhost_user.h of the kernel): set-up by messages on a socket, kicks within them,
/// calls on a socket of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "uml/guest_memory.h"
#include "uml/owned_file.h"
#include "uml/virtqueue.h"

namespace flitwise {

struct VhostMessage {
  std::uint32_t request = 0;
  std::uint32_t flags = 0;
  std::vector<std::uint8_t> payload;
  std::vector<OwnedFile> files;

  std::uint64_t u64(std::size_t at = 0) const;  ///< 0 behind its end
  std::uint32_t u32(std::size_t at = 0) const;
};

/// False where the other end is gone, or what it sends is no message.
bool receive_message(int socket, VhostMessage& message);
bool send_message(int socket, const VhostMessage& message);

class VhostDevice {
 public:
  static constexpr unsigned kQueues = 2;
  /// The guest has given a queue new chains.
  using Kicked = std::function<void(VhostDevice& device, unsigned queue)>;
  /// The guest has handed over memory.
  using MemoryGiven = std::function<void(const GuestMemory& memory)>;

  VhostDevice(std::string name, Kicked kicked, MemoryGiven memory_given)
      : name_(std::move(name)),
        kicked_(std::move(kicked)),
        memory_given_(std::move(memory_given)) {}

  const std::string& name() const { return name_; }
  Virtqueue& queue(unsigned index) { return queues_[index]; }
  const Virtqueue& queue(unsigned index) const { return queues_[index]; }

  void connect(OwnedFile socket) { socket_ = std::move(socket); }
  bool is_connected() const { return socket_.is_open(); }
  int socket() const { return socket_.get(); }
  /// Takes the next message and answers it; the connection ends where there is none.
  void serve();
  /// Where it answers calls; -1: it has given no such socket.
  int calls() const { return calls_.get(); }
  /// Sends a call, which the guest will answer.
  bool call(unsigned queue);
  /// Takes the answer. REQUIRES: poll() has said that there is one.
  bool take_call_answer();

 private:
  bool handle(VhostMessage& message);
  bool set_memory(VhostMessage& message);
  bool set_queue(const VhostMessage& message);
  void reply(const VhostMessage& to, std::uint64_t value);

  const std::string name_;
  const Kicked kicked_;
  const MemoryGiven memory_given_;
  OwnedFile socket_, calls_;
  GuestMemory memory_;
  Virtqueue queues_[kQueues] = {Virtqueue(memory_), Virtqueue(memory_)};
};

}  // namespace flitwise
