// SPDX-License-Identifier: Apache-2.0
/// What the stages of an RDMA adapter ask of each other: one small interface a stage, so that each
/// can be tested with stand-ins. Queue pairs go by their place in HcaPairs.
// Longer than 150 lines: one interface for each stage.
#pragma once

#include "rdma/hca_pairs.h"
#include "rdma/hca_parts.h"
#include "rdma/hca_result.h"

namespace flitwise {

class HcaDma;

/// Implemented by HcaVirtualKick.
class HcaKicks {
 public:
  /// Something of it may go on: it has its turn.
  virtual void kick(std::uint32_t pair, Time now) = 0;
  /// One of them could go to queue pair fetch now.
  virtual bool has_kick(Time now) const = 0;

 protected:
  ~HcaKicks() = default;
};

/// Implemented by HcaQpFetch.
class HcaFetches {
 public:
  /// Its last place is for kicks and for frames by turns, where both wait.
  virtual bool has_room_for_kick(Time now) const = 0;
  virtual bool has_room_for_frame(Time now) const = 0;
  /// A kick or a frame: it goes on when the state of its queue pair is there, which is pinned from
  /// then on. REQUIRES: there is room for it.
  virtual void fetch(HcaArrived work, Time now) = 0;
  /// The state that was not there has come.
  virtual void state_came(std::uint32_t pair) = 0;
  /// It could not be read: what waits for it ends.
  virtual void state_failed(std::uint32_t pair, Time now) = 0;

 protected:
  ~HcaFetches() = default;
};

/// Implemented by HcaQpStates.
class HcaStates {
 public:
  /// Pins it; what is written back and read is under way, where that is needed.
  virtual QpLookup::Outcome look_up(std::uint32_t pair, Time now) = 0;
  /// By other work too. REQUIRES: it is pinned.
  virtual void pin(std::uint32_t pair) = 0;
  /// Work has changed it and is done; nothing where its function was reset. REQUIRES: it is pinned.
  virtual void release(std::uint32_t pair) = 0;

 protected:
  ~HcaStates() = default;
};

/// Implemented by HcaDescriptorFetch.
class HcaRings {
 public:
  /// A kick, with the state of its queue pair: entries are read, packets may go. Unpins it.
  virtual void kicked(std::uint32_t pair, Time now) = 0;
  /// Entries are read, as far as software has posted any and no read is under way.
  virtual void read(std::uint32_t pair, bool is_receive, Time now) = 0;
  /// Nobody can tell what the ring has: the queue pair ends, and one completion stands for all of
  /// a send ring that is not complete by then.
  virtual void lose(std::uint32_t pair, bool is_receive) = 0;

 protected:
  ~HcaRings() = default;
};

/// Implemented by HcaReceive.
class HcaReceives {
 public:
  virtual bool has_room() const = 0;
  /// A packet, with the state of its queue pair pinned. REQUIRES: has_room().
  virtual void receive(HcaArrived packet, Time now) = 0;
  /// An atomic for it waits for host memory.
  virtual bool is_in_atomic(std::uint32_t pair) const = 0;
  /// It is in error, or reset: what came ahead of others is dropped.
  virtual void drop_held(std::uint32_t pair) = 0;

 protected:
  ~HcaReceives() = default;
};

/// Implemented by HcaPacketBuilder.
class HcaPackets {
 public:
  /// It may have packets to send, and is pinned until it has none. REQUIRES: it is pinned.
  virtual void ready(std::uint32_t pair, Time now) = 0;
  /// Control messages of sessions are to be sent.
  virtual void control_waits(Time now) = 0;
  /// Packets that found no session may find one now.
  virtual void sessions_are_back(Time now) = 0;

 protected:
  ~HcaPackets() = default;
};

/// Implemented by HcaCompletion.
class HcaOutcomes {
 public:
  /// The rules of a queue pair have been told or asked something: completions, and times to wait.
  virtual void after_rules(std::uint32_t pair, Time now) = 0;
  /// Software of the function at that place asks for an event. False: it has no such queue.
  virtual bool arm(std::uint32_t place, const CompletionArm& order, Time now) = 0;
  /// Else nothing that completes may be received: completions wait for room.
  virtual bool has_room() const = 0;

 protected:
  ~HcaOutcomes() = default;
};

/// Implemented by HcaReceiveEntries and HcaDmaValidation.
class HcaPlaces {
 public:
  virtual bool has_room() const = 0;
  /// A piece of payload on its way to host memory. takes_entry: of a receive queue. What a packet
  /// has more than there is room for is taken all the same.
  virtual void place(HcaReceived piece, bool takes_entry, Time now) = 0;

 protected:
  ~HcaPlaces() = default;
};

/// Implemented by HcaSessions; an adapter of plain RoCEv2 has none.
class HcaCarriers {
 public:
  /// The next packet of queue pair made.pair. False: none may go now; it is kicked when one may.
  virtual bool next_packet(HcaBuilt& made, RdmaPacket& packet, Time now) = 0;
  enum class Sent : std::uint8_t { kYes, kNo, kLater };
  /// The packet leaves now, by a session: its frame is whole then. kNo: it never does. kLater: no
  /// session may be used now. [SG-9]
  virtual Sent send(HcaBuilt& built, Time now) = 0;
  /// Clocks that the choice of its session takes. [SEL-6]
  virtual unsigned choice_clocks(std::uint32_t pair) const = 0;
  /// It does not leave.
  virtual void drop(const HcaBuilt& built) = 0;
  /// A control message is to be sent.
  virtual bool has_control() const = 0;
  /// REQUIRES: has_control().
  virtual void take_control(ByteVector& frame) = 0;
  /// A frame that has come. Null: its packet is for a queue pair; else what becomes of it.
  virtual const char* receive(HcaArrived& arrived, Time now) = 0;
  /// A packet comes to the rules of its queue pair.
  virtual void before_rules(const HcaArrived& arrived, Time now) = 0;
  /// They say that it is to send more slowly.
  virtual void slow_down(const HcaArrived& arrived, Time now) = 0;
  /// They have been told or asked something.
  virtual void after_rules(std::uint32_t pair, Time now) = 0;

 protected:
  ~HcaCarriers() = default;
};

/// What becomes of a control message.
inline constexpr const char* kRxControl = "rx_control";

/// Implemented by Hca.
class HcaControl {
 public:
  /// The physical function says so. False: there is no such function.
  virtual bool command(const AdapterCommand& command, Time now) = 0;
  /// Payload of a peer is in host memory now.
  virtual void placed(std::uint32_t pair, std::uint32_t bytes) = 0;

 protected:
  ~HcaControl() = default;
};

/// Why a frame is dropped whose function is down. [HP-4]
inline constexpr const char* kRxFunctionDown = "rx_function_down";

/// Implemented by HcaPacketReceiver.
class HcaFrameMemory {
 public:
  /// Nothing needs the frame any more.
  virtual void give_room(const Frame& frame) = 0;
  /// Likewise; it is counted by what has become of it.
  virtual void drop(const char* why, const Frame& frame) = 0;
  /// One of them could go to queue pair fetch now.
  virtual bool has_frame(Time now) const = 0;

 protected:
  ~HcaFrameMemory() = default;
};

/// The adapter, as each stage knows it. All of it outlives the stages' work.
struct HcaParts {
  const HcaConfig& config;
  HcaPairs& pairs;
  HcaCounters& totals;
  HcaPacketPool& arrived;
  HcaDma& dma;
  HcaCommands& commands;
  HcaKicks& kicks;
  HcaFetches& fetches;
  HcaStates& states;
  HcaRings& rings;
  HcaReceives& receives;
  HcaPackets& packets;
  HcaOutcomes& outcomes;
  HcaPlaces& entries;  ///< before validation
  HcaPlaces& validation;
  HcaFrameMemory& frames;
  HcaControl& control;
  HcaCarriers* carriers = nullptr;  ///< null: plain RoCEv2
};

}  // namespace flitwise
