// SPDX-License-Identifier: Apache-2.0
/// All monitors of one link, for both directions. It watches and never changes anything; it shares
/// no rule with the model that it watches (docs/monitors.md).
#pragma once

#include <array>
#include <memory>
#include <string>

#include "link/framer.h"
#include "monitor/completion_monitor.h"
#include "monitor/credit_monitor.h"
#include "monitor/handle_monitor.h"
#include "monitor/message_monitor.h"
#include "monitor/ordering_monitor.h"
#include "monitor/request_monitor.h"
#include "monitor/sequence_monitor.h"
#include "monitor/translation_monitor.h"

namespace flitwise {

/// What a link's monitors have to know of the machine around it.
struct LinkMonitorOptions {
  std::string link;
  bool has_data_link = true;  ///< PCIe: credits, sequence numbers, Acks
  bool has_flits = false;     ///< then flits have the sequence numbers
  bool has_messages = false;  ///< a CXL link: flits of CXL.cache and CXL.mem as well
  SharedCredits shared_credits = SharedCredits::kNone;
  bool has_memory_states = false;  ///< of CXL.mem: the device has states of its lines [COH-5.3]
  std::uint32_t mps = 256, mrrs = 512;
  RequestMonitor::EnabledMrrs enabled_mrrs;       ///< of the devices below
  std::uint32_t host_rcb = 64, device_rcb = 128;  ///< as completers [LNK-9.9]
  Time device_timeout, host_timeout;              ///< [LNK-9.18]
  IdentityForm form;
  bool is_switch_below = false;   ///< whose ports may redirect completions of peers [LNK-13.2]
  bool is_host_above = true;      ///< the upstream end turns handles back into domains
  bool announces_handles = true;  ///< every handle that is used comes with an ALLOC on this link
  bool asks_for_translations = false;  ///< for all that its device below sends translated
  bool has_coherent_handles = true;    ///< false: uses may come before their ALLOC is applied
};

/// Ends of a link by index, as LinkSide: 0 upstream, 1 downstream. An end sends in its own
/// direction.
class LinkMonitor {
 public:
  explicit LinkMonitor(const LinkMonitorOptions& options);
  LinkMonitor(const LinkMonitor&) = delete;
  LinkMonitor& operator=(const LinkMonitor&) = delete;

  /// The transaction queues of an end have taken a packet.
  void queued(std::size_t end, FcClass fc, const Packet& packet) {
    directions_[end]->ordering.queued(fc, packet);
  }
  /// Those of messages have taken one. REQUIRES: has_messages, as do all messages and their flits.
  void queued_message(const Packet& message) { messages_->queued(message); }
  /// An end has put a unit on its wire.
  void sent(std::size_t end, const WireUnit& unit, Time now);
  /// A unit has come to an end, undamaged.
  void arrived(std::size_t end, const WireUnit& unit, Time now) {
    if (unit.is_flit() || unit.packet->kind == PacketKind::kDllp) {
      told_by(end, unit, now);
    }
  }
  /// The data link layer at an end has dealt with it: it hands on these TLPs.
  void accepted(std::size_t end, const WireUnit& unit, bool is_damaged,
                const std::vector<PacketRef>& tlps, Time now) {
    if (unit.is_flit()) {
      accepted_flit(end, unit, is_damaged, tlps, now);
    } else if (!tlps.empty()) {
      accepted_next(*directions_[1 - end], unit, true, now);
    }
  }
  /// The port at an end has dealt with a TLP.
  void delivered(std::size_t end, const Packet& packet, Time now);
  /// The agent at an end has dealt with a message.
  void delivered_message(const Packet& message, Time now) {
    messages_->delivered(message, now);
    if (TranslationMonitor* const of_device = directions_[1]->translations.get()) {
      of_device->delivered_message(message);
    }
  }
  /// The link has gone down: it comes up with no memory of what was before. [LNK-10.7]
  void went_down();

  ViolationLog& log() { return log_; }
  const ViolationLog& log() const { return log_; }

 private:
  /// Of what one end sends.
  struct Direction {
    Direction(const LinkMonitorOptions& options, bool is_up, ViolationLog& log, Reporter reporter);
    CreditMonitor credits;
    SequenceMonitor sequence;
    OrderingMonitor ordering;
    RequestMonitor shape;
    CompletionMonitor answers;  // to its requests; they come the other way
    HandleMonitor handles;
    std::unique_ptr<TranslationMonitor> translations;  // null: nobody looks
    bool has_data_link;
    bool announces_handles;
    bool checks_resolution;
  };
  [[gnu::always_inline]] static inline bool fits(Direction& direction, const Packet& packet,
                                                 TlpKind kind);
  [[gnu::always_inline]] static inline void book(Direction& direction, const Packet& packet,
                                                 TlpKind kind, Time now);
  [[gnu::noinline]] void sent_special(std::size_t end, const WireUnit& unit, Time now);
  void sent_flit(std::size_t end, const WireUnit& unit, Time now);
  void acknowledging(std::size_t end, const Packet& dllp, Time now);
  [[gnu::cold, gnu::noinline]] static void number_slowly(Direction& direction, const WireUnit& unit,
                                                         Time now);
  [[gnu::cold, gnu::noinline]] void sent_slowly(std::size_t end, const Packet& packet,
                                                bool is_covered, Time now);
  void judge(std::size_t end, const Packet& packet, Time now);
  void told_by(std::size_t end, const WireUnit& unit, Time now);
  void told(std::size_t end, const Packet& dllp, Time now);
  void accepted_flit(std::size_t end, const WireUnit& unit, bool is_damaged,
                     const std::vector<PacketRef>& tlps, Time now);
  static void accepted_parts(Direction& direction, const std::vector<FlitPart>& parts,
                             const std::vector<PacketRef>& tlps, Time now);
  /// A TLP or a flit with payload has been accepted, and all of it.
  static void accepted_next(Direction& direction, const WireUnit& unit, bool is_whole, Time now) {
    if (!direction.has_data_link) {
      return;
    }
    if (!is_whole || !direction.sequence.fits_delivery(*unit.packet, unit.sequence)) {
      direction.sequence.report_delivery(*unit.packet, unit.sequence, now);
    }
    direction.sequence.delivered(unit.sequence);
  }

  const LinkMonitorOptions options_;
  ViolationLog log_;
  std::array<std::unique_ptr<Direction>, 2> directions_;
  std::unique_ptr<MessageMonitor> messages_;  // null where there are none
};

}  // namespace flitwise
