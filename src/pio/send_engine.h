// SPDX-License-Identifier: Apache-2.0
/// The send side of a device as rules without a clock: send contexts, launch, virtual lanes, egress
/// and credit returns. Scripts drive it event by event, the timed engine with a clock.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pio/credit_return.h"
#include "pio/launch.h"
#include "pio/sdma_ring.h"
#include "pio/send_context.h"
#include "pio/vl_arbiter.h"

namespace flitwise {

/// Whatever software or a wire brings is data: what the device refuses changes nothing but error
/// bits. After each call that may cause returns, the caller takes them out (first_return), at once
/// or, where they coalesce, when the link has room.
class SendEngine {
 public:
  SendEngine();
  SendEngine(const SendEngine&) = delete;  // contexts point to its memory
  SendEngine& operator=(const SendEngine&) = delete;

  /// Launched packets that each VL has room for, from 1 on; at first as many as there are blocks of
  /// send memory. Packets that wait in a FIFO stay there.
  void set_launch_fifo_packets(std::size_t packets) { fifos_.set_most(packets); }
  /// While a return waits in the queue, later ones of its group update it. At first off.
  /// [PIO-12.21]
  void set_coalescing(bool is_on) { coalesces_ = is_on; }

  // ---- what software programs; contexts 0..159
  /// What is wrong with the place of a context in send memory; empty: nothing. [PIO-12.31]
  std::string setup_flaw(unsigned context, const SendContextSetup& setup) const;
  /// The context is programmed and enabled. REQUIRES: setup_flaw() finds nothing.
  void set_up(unsigned context, const SendContextSetup& setup);
  /// SendContextSetCtrl of sets 0..19: log2 of the contexts of a group, 0..3. [PIO-8.1]
  void set_group(unsigned set, unsigned exponent) { groups_[set] = exponent; }
  /// Those that return their credits with this one.
  ReturnGroup group_of_context(unsigned context) const {
    return group_of(context, groups_[context / kContextsPerSet]);
  }
  /// A multiple of 64, whether the context is set up or not. Until then it is 0. [PIO-12.41]
  void set_return_address(unsigned context, std::uint64_t address) {
    addresses_[context] = address;
    has_address_.set(context);
  }
  std::uint64_t return_address(unsigned context) const { return addresses_[context]; }
  void set_threshold(unsigned context, std::uint16_t blocks);
  void set_early_return(unsigned context, bool is_on);
  void set_credit_interrupt(unsigned context, bool is_on) {
    contexts_[context].set_credit_interrupt(is_on);
  }
  void set_barred_vls(unsigned context, std::uint16_t vls);
  void set_vl_tables(const VlTables& tables) { vl_arbiter_.use_tables(tables); }
  /// Writes ForceReturn; a change from 0 to 1 returns credits, whether any are pending or not.
  void force(unsigned context, bool is_on);
  /// SendCtxtCtrl: writes are dropped from now on, and no credits are returned.
  void disable(unsigned context);
  /// Its buffer is empty, counters and errors are 0. False, and nothing has changed, where it is
  /// not set up or is enabled. [PIO-9.6, 10.3]
  bool initialise(unsigned context);
  /// It takes writes. False where it is not set up.
  bool enable(unsigned context);
  /// Disables, initialises and enables the context; nothing where it is not set up. [PIO-9.6]
  void restart(unsigned context);

  // ---- what fills send memory
  /// A posted write of `bytes` bytes to an offset of the PIO window.
  void write(std::uint32_t offset, const std::uint8_t* data, std::size_t bytes);
  /// Software writes a whole packet in program order, block by block, whatever its credits.
  /// Context 0..255, 1..256 blocks, VL 0..15.
  void fill(unsigned context, unsigned blocks, unsigned vl, bool returns_credits);
  /// A packet is in the send buffer of an SDMA engine, 0..15. Refused where its queue is full.
  void sdma_fill(unsigned engine, unsigned blocks, unsigned vl);

  // ---- SDMA engines 0..15 with descriptor rings: tail, reads, answers, head
  /// REQUIRES: SdmaRing::setup_flaw() finds nothing.
  void sdma_set_up(unsigned engine, const SdmaSetup& setup);
  /// Begins the ring anew, its registers as they are; nothing where it is not set up. Packets that
  /// are launched leave, others are forgotten. [PIO-6.16]
  void sdma_restart(unsigned engine);
  void sdma_disable(unsigned engine);
  void sdma_write_tail(unsigned engine, std::uint64_t index);
  /// A read that goes out now; absent: none can, see sdma_ring() for why.
  std::optional<SdmaRead> sdma_next_read(unsigned engine);
  void sdma_put(unsigned engine, std::uint64_t tag, std::uint64_t offset, const std::uint8_t* data,
                std::size_t bytes) {
    rings_[engine].put(tag, offset, data, bytes);
  }
  void sdma_finish(unsigned engine, std::uint64_t tag);
  void sdma_take(unsigned engine, std::uint64_t tag, const std::uint8_t* data);
  void sdma_fail(unsigned engine, std::uint64_t tag);  ///< UR, CA, poisoned, or no answer
  /// The head goes to host memory; absent: nobody has asked since.
  std::optional<SdmaHeadWrite> sdma_take_head_write(unsigned engine) {
    return rings_[engine].take_head_write();
  }

  // ---- launch and egress
  /// Whom the launch arbiter grants next; LaunchArbiter::kNone: nobody can launch.
  unsigned next_source() const;
  /// Could some source launch if the launch FIFO of its packet had room? [PIO-12.27]
  bool holds_source() const;
  /// The launch arbiter grants one source, if any can launch. A packet that is disallowed is
  /// dropped with that. False: none can.
  bool launch();
  /// What the VL arbiter would choose; VlArbiter::Choice::queue kVlQueues: nothing can go.
  /// `may_go`: the queues that have room behind them, a bit each.
  VlArbiter::Choice next_vl(unsigned may_go = kAllVlQueues) const;
  /// The VL arbiter chooses one, and its packet is committed to egress.
  void arbitrate(bool is_intact, unsigned may_go = kAllVlQueues);
  /// The oldest packet of that VL is committed to egress, unless the VL is empty or busy. With
  /// is_intact false, or on a VL that its context is barred from, it is dropped. VL 0..15.
  void commit(unsigned vl, bool is_intact);
  /// The packet of that VL that is on its way out; null: none, or no VL.
  const LaunchedPacket* leaving(unsigned vl) const;
  /// That packet has left send memory; nothing where there is none. Of one whose blocks are cleared
  /// one by one, the block that comes next has.
  void clear(unsigned vl);
  /// The block that comes next of that packet has left send memory; with the last one the packet
  /// has. Nothing where there is none. [PIO-12.25]
  void clear_block(unsigned vl);
  /// Packets that are launched and have not left are gone; those of contexts are lost.
  void forget_launched();

  // ---- credit returns, in order
  bool has_return() const { return !returns_.is_empty(); }
  unsigned returns_waiting() const { return returns_.size(); }
  const CreditReturn& first_return() const { return returns_.front(); }
  void take_return() { returns_.pop(); }

  // ---- what can be looked at
  const SendContext& context(unsigned context) const { return contexts_[context]; }
  const SdmaQueue& sdma(unsigned engine) const { return sdma_[engine]; }
  const SdmaRing& sdma_ring(unsigned engine) const { return rings_[engine]; }
  const SendMemory& memory() const { return memory_; }
  const LaunchFifos& launch_fifos() const { return fifos_; }
  /// Are its bytes still known? Not those of sdma_fill(), nor of a life before a restart,
  /// nor where blocks were cleared one by one.
  bool has_bytes(const LaunchedPacket& packet) const;
  /// Its context or ring has not been initialised since.
  bool is_alive(const LaunchedPacket& packet) const {
    return is_of_this_life(packet) || is_of_ring(packet);
  }
  /// A packet as it stands in send memory: its PBC, and the bytes behind that, in order. REQUIRES:
  /// has_bytes().
  Pbc pbc_of(const LaunchedPacket& packet) const;
  std::vector<std::uint8_t> bytes_of(const LaunchedPacket& packet) const;
  /// Its block `index` as it stands there, PBC included. REQUIRES: has_bytes(), index <
  /// packet.blocks.
  const std::uint8_t* block_of(const LaunchedPacket& packet, unsigned index) const {
    return packet.source >= kSendContexts
               ? rings_[packet.source - kSendContexts].block_of(packet.place, index)
               : memory_.bytes(contexts_[packet.source].assembly().index_of(packet.place + index));
  }
  /// Is it one of a context that has not been restarted since?
  bool is_of_this_life(const LaunchedPacket& packet) const;
  std::uint64_t bad_context_writes() const { return bad_context_writes_; }  ///< [PIO-12.2]
  /// How often contexts have had this error, one that has it already aside.
  std::uint64_t errors(SendError error) const { return errors_[static_cast<unsigned>(error)]; }
  /// Of packets of contexts that were launched and dropped.
  std::uint64_t dropped_blocks() const { return dropped_blocks_; }
  /// Returns of groups whose members are programmed with different addresses. [PIO-12.13]
  std::uint64_t mixed_address_returns() const { return mixed_address_returns_; }
  /// Returns to an address that nobody has programmed. [PIO-12.41]
  std::uint64_t unaddressed_returns() const { return unaddressed_returns_; }
  const ReturnCounts& return_counts() const { return return_counts_; }
  /// Packets of SDMA engines that were launched and dropped. [PIO-12.34]
  std::uint64_t lost_sdma_packets() const { return lost_sdma_packets_; }
  /// Engines of these since it was asked last, a bit each.
  std::uint32_t take_dropping_engines() { return std::exchange(dropping_engines_, 0); }

 private:
  void take_write(unsigned context, unsigned slot, const BlockWrite& write);
  void note_ready(unsigned context);
  void note_sdma_ready(unsigned engine);
  void admit_sdma(unsigned engine);
  void forget_sdma(unsigned engine);
  bool is_of_ring(const LaunchedPacket& packet) const;
  LaunchedPacket next_packet(unsigned source) const;
  void begin_egress(unsigned vl, bool is_intact);
  void end_egress(const LaunchedPacket& packet);
  void note_drained(const LaunchedPacket& packet, unsigned first, unsigned blocks,
                    const FreedBlocks& freed);
  void drop(const LaunchedPacket& packet);
  void fail(unsigned context, SendError error, CreditBits causes);
  CreditBits causes_of(unsigned context, const FreedBlocks& freed) const;
  void return_credits(unsigned context, CreditBits causes, bool is_early = false);
  void count_return(CreditBits causes, bool is_early, bool is_write);
  void write_group(const ReturnGroup& group, unsigned trigger, CreditBits causes,
                   CreditReturn& entry);

  SendMemory memory_;
  std::vector<SendContext> contexts_;
  std::vector<SdmaQueue> sdma_;
  std::vector<SdmaRing> rings_;
  std::array<std::uint64_t, kSendContexts> addresses_{};
  std::bitset<kSendContexts> has_address_;
  std::array<unsigned, kContextSets> groups_{};
  LaunchArbiter launch_arbiter_;
  LaunchFifos fifos_;
  VlArbiter vl_arbiter_;
  std::array<std::optional<LaunchedPacket>, kVlQueues> leaving_;
  CreditReturnQueue returns_;
  bool coalesces_ = false;
  ReturnCounts return_counts_;
  std::uint64_t bad_context_writes_ = 0, mixed_address_returns_ = 0, unaddressed_returns_ = 0;
  std::uint64_t dropped_blocks_ = 0, lost_sdma_packets_ = 0;
  std::uint32_t dropping_engines_ = 0;
  std::array<std::uint64_t, kSendErrors> errors_{};
};

}  // namespace flitwise
