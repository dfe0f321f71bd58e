// SPDX-License-Identifier: Apache-2.0
/// What goes down by a root port: requests of the host, messages, and completions, which it makes;
/// and the books of the port.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/outbox.h"
#include "common/packet_sizer.h"
#include "flitwise/observer.h"
#include "flitwise/result.h"
#include "root_complex/port_seams.h"
#include "tlp/splitter.h"
#include "tlp/tlp_check.h"

namespace flitwise {

/// What became of the TLPs from the link since the start of the run; each is in exactly one of the
/// first group or still waits for memory. Units: TLPs, bytes.
struct RootPortCounters {
  std::uint64_t writes = 0, reads = 0, interrupts = 0, messages = 0, handle_messages = 0,
                completions = 0, refused = 0;
  std::uint64_t raw_completions = 0;  ///< of `completions`: a device made them as they stand
  std::uint64_t received = 0;
  std::uint64_t settled = 0;  ///< requests of engines and scripts that were served or refused
  std::uint64_t nonposted = 0,
                answered = 0;  ///< requests that want an answer, and those that have it
  std::uint64_t written_bytes = 0, interrupt_bytes = 0, dropped_bytes = 0;  ///< of MWr
};

/// What a root port counts, and whom it tells of what it refuses.
class PortRecord {
 public:
  explicit PortRecord(const char* port) : port_(port) {}

  RootPortCounters counters;
  std::map<std::string, std::uint64_t> errors;
  PortHost* host = nullptr;
  const Observer* observer = nullptr;
  /// For whoever observes the run.
  void observe(const char* what, const char* detail, const Packet& packet) const;
  /// A request is served or refused. What devices ask for on their own account, to get at the
  /// requests of an engine, is not counted.
  void settle(const Packet& packet);
  /// An error that takes nothing from the packet's way: counted by kind, and reported.
  void note(const Packet& packet, cfg::aer::Uncorrectable error, const char* kind,
            const char* detail);
  /// The packet ends here.
  void drop(const Packet& packet, cfg::aer::Uncorrectable error, const char* kind);
  /// Without an answer, and a fatal error. [LNK-9.17]
  void drop_malformed(const Packet& packet, TlpViolation violation);
  std::vector<CheckResult> checks() const;

 private:
  void end(const Packet& packet);

  const char* const port_;
};

class PortOutput {
 public:
  PortOutput(const RootPortConfig& config, PacketPool& pool, PortWire& link, PortRecord& record);

  /// From now on every TLP bears an ECRC, if software wants that. [LNK-12.6]
  void set_ecrc(bool is_generated) { sizer_.set_ecrc(is_generated); }

  /// To be called where what the packet takes on the link does not follow from how it leaves.
  void size(Packet& packet) const { sizer_.size(packet); }
  /// It may leave at `ready`, behind what was sent before of its class.
  void send(PacketRef packet, Time ready);
  /// The data of a read or an atomic, from memory at `when`. data: of whole DWs.
  void answer_read(const Packet& request, const std::uint8_t* data, Time when);
  /// One of several completions of a Translation Request. [TCP-01]
  void answer_translation(const Packet& request, const CompletionPiece& piece,
                          const std::uint8_t* translations, Time when);
  /// The request ends here: non-posted ones get a Cpl with the status at `when`, posted ones are
  /// dropped and counted. [LNK-9.19]
  void refuse(const Packet& packet, CplStatus status, const char* kind, Time when);
  /// A Cpl, if the request is one that wants an answer.
  void answer_without_data(const Packet& packet, CplStatus status, Time when);
  /// [LNK-9.23] [LNK-12.12]
  void refuse_poisoned(const Packet& packet, Time when);

  /// The link has room again.
  void drain();
  /// model: answers that may wait to go down; beyond it requests keep their receive buffers, so
  /// that a flood of reads runs out of credits. More than all tags of a device can ask for at once.
  static constexpr std::size_t kMostAnswers = 16384;
  bool takes_answers() const { return completions_.size() < kMostAnswers; }
  /// Posted packets that wait for room in the queue of the link; and who hears when one has left.
  std::size_t posted_waiting() const { return posted_.size(); }
  /// A posted request has left: `left` says whether it waits for its place, and takes it.
  void watch_posted(std::function<bool()> left) { posted_left_.push_back(std::move(left)); }
  bool is_empty() const { return posted_.empty() && nonposted_.empty() && completions_.empty(); }
  std::string waiting(const char* at) const;
  void start_window(Time now);
  std::vector<WaitResult> waits(const char* at) const;

 private:
  struct Queue {
    Outbox& outbox;
    const char* name;
    const char* content;
    std::size_t room;  // in the queue of the link
  };
  PacketRef make_completion(const Packet& request, std::size_t payload_bytes = 0) const;
  void put(Outbox& outbox, PacketRef packet, Time ready);
  void complete(PacketRef packet, Time when);
  bool tell_next();

  const Time latency_;  // from memory to the link
  const std::uint32_t mps_, rcb_;
  const bool handle_is_requester_id_, real_payload_;
  const std::function<bool(CompletionPiece&)> completion_hook_;
  PacketPool& pool_;
  PortWire& link_;
  PortRecord& record_;
  PacketSizer sizer_;
  Outbox posted_, nonposted_, completions_;
  const std::array<Queue, 3> queues_;
  std::vector<std::function<bool()>> posted_left_;
  std::size_t told_ = 0;  // of these, the last one
};

}  // namespace flitwise
