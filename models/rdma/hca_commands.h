// SPDX-License-Identifier: Apache-2.0
/// Commands that software has stored into an RDMA adapter: they are collected, wait for their turn
/// in the order of their send queue, and hold payload until it is in packets. [HP-1]
#pragma once

#include <optional>
#include <vector>

#include "common/slot_list.h"
#include "flitwise/time.h"
#include "rdma/command_buffer.h"
#include "rdma/rdma_packet.h"

namespace flitwise {

class HcaCommands {
 public:
  struct Record {
    std::vector<std::uint8_t> bytes;
    std::uint32_t number = 0;  ///< of its entry in the send queue, modulo 2^32
    bool has_payload = false;
    Sge local;
    std::uint32_t next = kNobody;
  };
  using Queue = TokenPool<Record>::Queue;  ///< of one queue pair
  struct Stored {
    Command command;
    std::uint32_t lines = 0;        ///< of 64 bytes
    std::uint32_t token = kNobody;  ///< kNobody: there is no room, it is to be read from the ring
  };

  /// depth: commands that it holds at most. functions: each collects by itself.
  explicit HcaCommands(std::size_t depth, std::size_t functions = 1)
      : depth_(depth), collected_(functions) {}

  /// Bytes for the buffer that collects for a function: a command, once it is whole.
  std::optional<Stored> write(std::size_t function, std::uint64_t offset, const std::uint8_t* bytes,
                              std::size_t size, Time now);
  /// When what is collected is dropped, since the rest does not come; never where nothing is.
  Time next() const { return next_; }
  void expire(Time now);

  Record& operator[](std::uint32_t token) { return records_[token]; }
  void push(Queue& queue, std::uint32_t token) { records_.push(queue, token); }
  std::uint32_t pop(Queue& queue) { return records_.pop(queue); }
  void close(std::uint32_t token) { records_.close(token); }
  void close_all(Queue& queue);
  /// What is collected for a function.
  void drop(std::size_t function) {
    collected_[function].buffer.drop();
    collected_[function].due = Time::never();
    set_next();
  }
  /// Payload of a packet, where the first of the queue has it; else null, as of one that is sent
  /// again. It is there until more is written. With its last byte the command is done.
  const std::uint8_t* take_payload(Queue& payloads, const RdmaPacket& packet);

  bool is_quiet() const { return next_ == Time::never(); }
  std::uint64_t bad() const { return bad_; }
  std::uint64_t timed_out() const { return timed_out_; }

 private:
  static constexpr Time kTimeout = Time::from_us(10);  // model

  void set_next();

  std::size_t depth_;
  struct Collected {
    CommandBuffer buffer;
    Time due = Time::never();  // while it is in part there
  };
  std::vector<Collected> collected_;  // by function
  Time next_ = Time::never();
  TokenPool<Record> records_;
  std::uint64_t bad_ = 0, timed_out_ = 0;
};

}  // namespace flitwise
