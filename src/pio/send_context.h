// SPDX-License-Identifier: Apache-2.0
/// One send context: its registers, its buffer, which of its packets are launched, and its credits.
#pragma once

#include <cstdint>
#include <optional>

#include "pio/packet_assembly.h"

namespace flitwise {

/// What software programs before it enables a context. [PIO-10.1]
struct SendContextSetup {
  unsigned base = 0;            ///< in blocks of send memory
  unsigned depth = 0;           ///< in blocks, 1..1024
  std::uint16_t threshold = 0;  ///< in blocks, 0..2047; 0: no return for it [PIO-12.7]
  bool early_return = false;
  bool credit_interrupt = false;
};

/// Blocks that the free counter has passed at once, and whether the PBC of one of their packets
/// asks for a return.
struct FreedBlocks {
  unsigned blocks = 0;
  bool asks_for_return = false;
};

class SendContext {
 public:
  /// The registers are programmed; the buffer is empty, counters and errors are 0, and the context
  /// takes writes. REQUIRES: the blocks are in send memory.
  void set_up(SendMemory& memory, const SendContextSetup& setup);
  /// Its buffer is empty, counters and errors are 0, and registers stay as they are. Packets that
  /// are launched belong to the life before, others are lost. REQUIRES: it has been set up.
  /// [PIO-9.6]
  void initialise();
  /// It takes writes. REQUIRES: it has been set up.
  void enable() { is_enabled_ = true; }
  void disable() { is_enabled_ = false; }
  /// It takes no writes, launches nothing and returns no credits until initialise(). [PIO-9.1]
  void halt(SendError error);
  /// The bit of a packet that was launched before it halted.
  void note_error(SendError error) { errors_ |= bit_of(error); }
  void set_threshold(std::uint16_t blocks) { setup_.threshold = blocks; }
  void set_early_return(bool is_on);
  void set_credit_interrupt(bool is_on) { setup_.credit_interrupt = is_on; }
  void set_barred_vls(std::uint16_t vls) { barred_vls_ = vls; }
  /// ForceReturn as software writes it. [PIO-7.4]
  void set_force(bool is_on) { is_forced_ = is_on; }

  bool has_setup() const { return memory_ != nullptr; }
  bool is_enabled() const { return is_enabled_; }
  bool is_halted() const { return errors_ != 0; }
  bool has_error(SendError error) const { return (errors_ & bit_of(error)) != 0; }
  bool is_forced() const { return is_forced_; }
  /// SendCtxtCheckVL: packets on these VLs fail integrity, a bit each. [PIO-6.7]
  std::uint16_t barred_vls() const { return barred_vls_; }
  const SendContextSetup& setup() const { return setup_; }
  /// Tells packets of this life from those before initialise().
  std::uint32_t life() const { return life_; }

  /// Does a write to that block wait until the block has been read out? REQUIRES: has_setup().
  bool waits(unsigned slot) const;
  /// Takes a write to one block, or keeps it while it waits, and finishes what is complete with it.
  /// What is wrong, with the write or with a packet that it shows, is returned. A write that waits
  /// is compared with others that wait at once, with its packet when its turn comes. REQUIRES: it
  /// takes writes, slot < depth.
  std::optional<SendError> write(unsigned slot, const BlockWrite& write);
  /// Where a packet goes that software writes in program order: behind all others.
  std::uint64_t fill_place() const {
    return fill_place_ > assembly_.done() ? fill_place_ : assembly_.done();
  }
  /// Software has filled the block at fill_place().
  void filled() { fill_place_ = fill_place() + 1; }

  /// The oldest complete packet that is not launched; null: none, or it may not.
  const SendPacket* to_launch() const;
  /// The place of that packet, in blocks since the start of this life.
  std::uint64_t launch_place() const { return launched_; }
  /// REQUIRES: to_launch().
  void launch() {
    launched_ += to_launch()->blocks;
    ++packets_out_;
  }
  /// A packet that was launched, in whatever life, has left or is dropped.
  void note_out(bool is_dropped) {
    --packets_out_;
    lost_packets_ += is_dropped ? 1 : 0;
  }
  /// Packets that are launched, and have neither left nor been dropped.
  unsigned packets_out() const { return packets_out_; }
  /// A write is dropped: if it has a PBC, its packet is lost.
  void note_refused(const BlockWrite& write) { lost_packets_ += write.begins_packet() ? 1 : 0; }
  /// Packets whose PBC came and that will not leave: the PBC was refused, or the packet was dropped
  /// behind its launch, or it was not launched when the context was initialised, or cannot be since
  /// it is halted.
  std::uint64_t lost_packets() const {
    return lost_packets_ + (is_halted() ? packets_to_launch() : 0);
  }

  /// The packet at this place counts as free, and with it all behind it that wait for it. Nothing
  /// where it does already. [PIO-7.2]
  FreedBlocks release(std::uint64_t place);
  /// It has been read out or dropped. REQUIRES: none of its blocks was drained before.
  FreedBlocks drain(std::uint64_t place);
  /// Of the packet at this place, the block that comes next has been read out. That of the oldest
  /// packet is free with it. REQUIRES: it is launched; index counts from 0, a call for each block.
  FreedBlocks drain_block(std::uint64_t place, unsigned index);
  /// The writes that waited for its blocks are done. As write().
  std::optional<SendError> write_waiting(std::uint64_t place, unsigned blocks);

  /// Blocks of all lives before this one.
  struct Past {
    std::uint64_t launched = 0, returned = 0;
  };
  const Past& past() const { return past_; }

  /// Free and returned blocks, modulo 2048 in registers and returns. [PIO-7.1]
  std::uint64_t freed() const { return freed_ + partly_free_; }
  std::uint64_t returned() const { return returned_; }
  std::uint64_t pending() const { return freed() - returned_; }
  bool meets_threshold() const { return setup_.threshold > 0 && pending() >= setup_.threshold; }
  /// What a return says of it: the free counter, or that of the error. [PIO-12.11]
  unsigned shown_counter() const {
    return static_cast<unsigned>((is_halted() ? freed_at_error_ : freed()) % kCreditRing);
  }
  /// A return has told of all that is free.
  void note_return() { returned_ = is_halted() ? freed_at_error_ : freed(); }

  const PacketAssembly& assembly() const { return assembly_; }

 private:
  static unsigned bit_of(SendError error) { return 1U << static_cast<unsigned>(error); }
  std::optional<SendError> take(unsigned slot, const BlockWrite& write);
  std::optional<SendError> flaw_of_waiting(std::size_t index, const BlockWrite& write) const;
  std::uint64_t packets_to_launch() const;
  void end_life();
  void begin_life();
  void open_or_drain(std::uint64_t place, const SendPacket& packet);
  void free_in_order(FreedBlocks& freed);

  SendMemory* memory_ = nullptr;
  SendContextSetup setup_;
  PacketAssembly assembly_;
  std::uint64_t launched_ = 0, freed_ = 0, returned_ = 0;  // blocks, since the start of this life
  std::uint64_t fill_place_ = 0, freed_at_error_ = 0;
  // Where blocks are cleared one by one: those of the oldest packet that are free already. What
  // memory has of that packet may be of another one then.
  std::uint64_t partly_free_ = 0;
  SendPacket oldest_;
  Past past_;
  std::uint64_t lost_packets_ = 0;  // of all lives
  unsigned packets_out_ = 0;        // of all lives
  std::uint32_t life_ = 0;
  unsigned errors_ = 0;
  std::uint16_t barred_vls_ = 0;
  bool is_enabled_ = false, is_forced_ = false;
};

}  // namespace flitwise
