// SPDX-License-Identifier: Apache-2.0
/// CXL.mem to a memory expander (type 3), at both ends of its link: the host cuts what its cores
/// ask for into lines, gives out tags and takes the answers; the device has the rules of
/// src/coherence, the lines, and the time they take. [CXL-3.8]
#pragma once

#include <systemc>

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coherence/agent_books.h"
#include "coherence/memory_expander.h"
#include "common/component.h"
#include "common/due_queue.h"
#include "common/outbox.h"
#include "common/wakeup.h"
#include "cxl/line_transfers.h"
#include "flitwise/config.h"
#include "flitwise/cxl.h"
#include "flitwise/link_socket.h"
#include "flitwise/result.h"
#include "stats/wait_book.h"
#include "trace/latency_tracer.h"

namespace flitwise {

/// The host's end.
class CxlMemHost : public ComponentModule {
 public:
  LinkTarget<CxlMemHost> from_link{"from_link"};
  LinkInitiator<CxlMemHost> to_link{"to_link"};

  CxlMemHost(const sc_core::sc_module_name& name, const HostConfig& config, bool real_payload,
             PacketPool& pool, LatencyTracer& tracer, unsigned queue_depth);

  /// Where the requests come from; it outlives the host's end.
  void attach(Engine& engine) { transfers_.attach(engine); }
  /// The engine has work again.
  void wake() { wakeup_.at(now()); }

  /// A message without a request.
  void send(PacketRef message);

  /// The link has gone down: what is out has no answer, and nothing is asked until it is up again.
  /// [CXL-3.9]
  void link_lost();
  void link_up();

  bool is_quiet() const override {
    return transfers_.lines_out() == 0 && !pending_ && foreign_[0].empty() && foreign_[1].empty();
  }
  std::string waiting() const override;
  /// When the last answer so far was there.
  Time last_end() const override { return last_completion_; }
  void add_progress(Progress& sum) const override { sum.completed += transfers_.lines_over(); }
  Counts errors() const override { return errors_; }
  std::vector<CheckResult> checks() const override;
  void start_window() override;
  /// Of the line that goes next: for a Tag, and for room in the queue of the link.
  std::vector<WaitResult> waits() const override;

 private:
  /// A line that is asked for, by its Tag. The packet is gone once the answer is here.
  struct Request {
    PacketRef packet;
    LineTransfers::Line line;
  };

  tlm::tlm_sync_enum receive(int id, Packet& packet, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum link_has_room(int id, Packet& packet, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay);
  void work(Wakeup& by);
  void ask_for_lines(Time now);
  PacketRef make_request();
  void ask(Time now);
  void note_wait(Time now);
  bool hand_over_pending();
  bool hand_over_foreign(const Outbox::Entry& entry);
  void end_line(std::uint16_t tag, TransferStatus status, Time done);
  bool awaits(const CxlMessage& answer) const;

  const HostConfig config_;
  const bool real_payload_;     // lines that are written have bytes
  const unsigned queue_depth_;  // of each channel of the link
  PacketPool& pool_;
  LatencyTracer& tracer_;
  Wakeup wakeup_;
  DueQueue<std::uint16_t> ends_;  // Tags whose answers are on their way to the core
  Wakeup ends_wakeup_;            // which goes on at that very moment
  LineTransfers transfers_;
  std::vector<Request> requests_;  // by Tag
  IdPool tags_;
  PacketRef pending_;  // the link had no room for it
  Time pending_ready_{}, pending_since_{};
  Time tags_out_since_ = Time::never();  // none is free, and nothing else holds up the next line
  Time tag_back_at_{};                   // the first one behind that
  WaitBook tag_waits_, queue_waits_;
  // Of nobody here, behind the one that waits for room: M2S Req, and the others.
  std::array<Outbox, 2> foreign_{Outbox(16), Outbox(16)};  // they grow
  bool is_down_ = false;
  Time last_completion_{};
  std::map<std::string, std::uint64_t> errors_;
};

/// The device's end.
class CxlMemDevice : public ComponentModule {
 public:
  LinkTarget<CxlMemDevice> from_link{"from_link"};
  LinkInitiator<CxlMemDevice> to_link{"to_link"};

  CxlMemDevice(const sc_core::sc_module_name& name, const CxlDeviceConfig& config, PacketPool& pool,
               unsigned queue_depth);

  /// A message that its rules know nothing of.
  void send(PacketRef message) { send(std::move(message), now()); }

  /// The link has gone down: answers that have not left are forgotten. [CXL-3.9]
  void link_lost() { answers_.clear(); }

  bool is_quiet() const override { return answers_.empty(); }
  /// Counted by kind.
  std::map<std::string, std::uint64_t> errors() const override;
  void start_window() override { answers_.waits().start_window(now()); }
  /// Of its answers, for room in the queue of the link.
  std::vector<WaitResult> waits() const override;

 private:
  tlm::tlm_sync_enum receive(int id, Packet& packet, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum link_has_room(int id, Packet& packet, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay);
  void answer(const Packet& request, const CxlOut& out);
  void send(PacketRef message, Time ready);

  const CxlDeviceConfig config_;
  const unsigned queue_depth_;  // of each channel of the link
  PacketPool& pool_;
  MemoryExpander rules_;
  CxlOutput out_;  // scratch
  Outbox answers_;
};

}  // namespace flitwise
