// SPDX-License-Identifier: Apache-2.0
/// One SDMA engine as rules without a clock: from the descriptors of its ring in host memory to
/// packets in its send buffer, and back to the head. The caller does its reads and writes.
/// [PIO-6.10, 6.16]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pio/pbc.h"
#include "pio/sdma_descriptor.h"
#include "pio/send_window.h"

namespace flitwise {

/// What halts an engine, by its bit in errors(). [PIO-6.15]
enum class SdmaError : std::uint8_t {
  kBadTail,           ///< not in the ring, or past the head
  kWrongGeneration,   ///< a descriptor of another round
  kFirstOrLast,       ///< a packet begins within another one, or without First
  kTooManyFragments,  ///< more than 64
  kBadLength,         ///< a fragment of 0 bytes, a packet of 16 KiB or longer than the buffer
  kLengthMismatch,    ///< the fragments have another length than the PBC says
  kReadFailed         ///< UR, CA, poisoned, no answer
};
inline constexpr int kSdmaErrors = 7;
const char* name_of(SdmaError error);  ///< "bad_tail", "wrong_generation", ...

struct SdmaSetup {
  std::uint64_t base = 0;          ///< of the ring, a multiple of 64
  unsigned entries = 2048;         ///< a multiple of 4, 4..2048
  std::uint64_t head_address = 0;  ///< where the head is written, a multiple of 8
  unsigned buffer_blocks = 256;    ///< its share of SDMA memory, 1..1024 blocks of 64 bytes
  unsigned reads = 16;             ///< that may be outstanding, 1..64
};

/// A read of host memory. `tag` comes back with the answer.
struct SdmaRead {
  std::uint64_t tag = 0, address = 0;
  unsigned bytes = 0;  ///< 16..64 of descriptors, 1..16383 of a fragment
};
/// 8 bytes, little-endian, to host memory, and whether an interrupt follows them.
struct SdmaHeadWrite {
  std::uint64_t address = 0, head = 0;
  bool interrupts = false;
};
/// What a complete packet is to the launch arbiter.
struct SdmaPacket {
  std::uint16_t blocks = 0;
  std::uint8_t vl = 0;
};

class SdmaRing {
 public:
  static constexpr unsigned kMostEntries = 2048;
  static constexpr unsigned kMostBufferBlocks = 1024;
  static constexpr unsigned kDescriptorsPerRead = 4;  ///< one line of 64 bytes
  static constexpr unsigned kWindow = 64;  ///< descriptors that are read ahead of their fragments
  static constexpr unsigned kMostReads = 64;  ///< outstanding

  /// What is wrong with it; empty: nothing.
  static std::string setup_flaw(const SdmaSetup& setup);
  /// An empty ring: head, tail, generation and errors are 0, reads in flight are forgotten.
  /// REQUIRES: setup_flaw() finds nothing.
  void set_up(const SdmaSetup& setup);
  /// The same with the registers as they are. REQUIRES: is_set_up(). [PIO-6.16]
  void restart();
  /// Nothing goes on until set_up() or restart().
  void disable();

  /// Software has written descriptors up to this index of the ring. Nothing while it does not run.
  void write_tail(std::uint64_t index);
  /// The next read that can go out now; absent: none. It is outstanding with that.
  std::optional<SdmaRead> next_read();
  /// Some of its bytes are here, `offset` into the read, in any order of reads. Those of an earlier
  /// life are dropped, and what lies beyond the read.
  void put(std::uint64_t tag, std::uint64_t offset, const std::uint8_t* data, std::size_t bytes);
  /// All of them are.
  void finish(std::uint64_t tag);
  /// Both at once.
  void take(std::uint64_t tag, const std::uint8_t* data);
  void fail(std::uint64_t tag);
  /// The oldest complete packet that has not been taken, in order of the ring; its first block
  /// counts as `place` from now on. Absent: none.
  std::optional<SdmaPacket> take_packet(std::uint64_t place);
  /// The packet of this place has left, or was dropped. Its descriptors are done when those of all
  /// older packets are.
  void clear(std::uint64_t place);
  /// The head as it has to be written; absent: nobody has asked. Later requests update one that
  /// waits.
  std::optional<SdmaHeadWrite> take_head_write();

  bool is_set_up() const { return setup_.has_value(); }
  bool is_running() const { return is_enabled_ && errors_ == 0; }
  bool is_halted() const { return errors_ != 0; }
  bool has_error(SdmaError error) const {
    return (errors_ >> static_cast<unsigned>(error) & 1U) != 0;
  }
  std::uint32_t life() const { return life_; }  ///< from 1 on; 0: never set up
  std::uint64_t head() const { return setup_ ? done_ % setup_->entries : 0; }
  /// Descriptors that software has written and whose packet is not done.
  std::uint64_t waiting() const { return tail_ - done_; }
  unsigned reads_outstanding() const { return reads_outstanding_; }
  unsigned used_blocks() const { return static_cast<unsigned>(filled_ - freed_); }
  /// The next fragment waits for room in the buffer.
  bool waits_for_room() const;
  /// A read waits for another one to be over.
  bool waits_for_reads() const {
    return is_running() && reads_outstanding_ == setup_->reads && (may_read_data() || has_line());
  }
  /// Its bytes as they stand in the buffer. REQUIRES: taken at this place in this life, not
  /// cleared.
  Pbc pbc_of(std::uint64_t place) const;
  std::vector<std::uint8_t> bytes_of(std::uint64_t place) const;
  /// Its block `index`, PBC included; bytes behind its end are old ones. REQUIRES: the same.
  const std::uint8_t* block_of(std::uint64_t place, unsigned index) const {
    return block_at(packet_at(packet_of(place)).first_block + index);
  }

 private:
  struct Read {
    std::uint64_t address = 0, place = 0;  // place: a descriptor, or a byte of the buffer
    std::uint64_t packet = 0;
    unsigned bytes = 0;
    bool is_used = false, is_fragment = false;
    std::array<std::uint8_t, kDescriptorsPerRead * kSdmaDescriptorBytes> line{};  // of descriptors
  };
  struct Packet {
    std::uint64_t first_block = 0, place = 0, end = 0;  // end: descriptors up to its last
    unsigned bytes = 0, missing = 0, fragments = 0;
    bool is_closed = false, is_cleared = false, asks_for_head = false, interrupts = false;
  };
  void begin_life();
  void halt(SdmaError error) { errors_ |= 1U << static_cast<unsigned>(error); }
  const SdmaDescriptor* next_descriptor() const;
  bool may_read_data() const;
  bool has_line() const { return fetched_ != line_end(); }
  std::uint64_t line_end() const;
  std::optional<SdmaError> flaw_of(const SdmaDescriptor& descriptor) const;
  bool has_room(const SdmaDescriptor& descriptor) const;
  Read* read_of(std::uint64_t tag);
  SdmaRead issue(const Read& read);
  SdmaRead read_fragment(const SdmaDescriptor& descriptor);
  Packet& packet_at(std::uint64_t number) { return packets_[number % packets_.size()]; }
  const Packet& packet_at(std::uint64_t number) const { return packets_[number % packets_.size()]; }
  bool is_within_packet() const;
  std::uint64_t packet_of(std::uint64_t place) const;
  const std::uint8_t* block_at(std::uint64_t block) const {
    return buffer_.data() + block % setup_->buffer_blocks * kSendBlockBytes;
  }
  Pbc pbc_of(const Packet& packet) const;

  std::optional<SdmaSetup> setup_;
  std::array<SdmaDescriptor, kWindow> window_{};
  std::array<Read, kMostReads> reads_{};
  std::vector<Packet> packets_;  // one of each block: no packet is smaller
  std::vector<std::uint8_t> buffer_;
  std::uint64_t here_ = 0;  // descriptors of window_, a bit each
  std::uint64_t tail_ = 0, fetched_ = 0, begun_ = 0, done_ = 0;  // descriptors of this life
  std::uint64_t filled_ = 0, freed_ = 0;                         // blocks of the buffer
  std::uint64_t first_packet_ = 0, taken_ = 0, packets_end_ = 0;
  std::uint32_t life_ = 0;
  unsigned reads_outstanding_ = 0, errors_ = 0;
  bool is_enabled_ = false, owes_head_ = false, owes_interrupt_ = false;
};

}  // namespace flitwise
