// SPDX-License-Identifier: Apache-2.0
/// From transfers of engines to TLPs and back: splitting, tags, the requests that are out, their
/// completions and timeouts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/due_queue.h"
#include "common/slot_list.h"
#include "endpoint/request_seams.h"
#include "endpoint/reset_control.h"
#include "flitwise/config.h"
#include "flitwise/result.h"
#include "stats/wait_book.h"
#include "tlp/identity.h"
#include "trace/latency_tracer.h"

namespace flitwise {

class RequestPath final : public TransferPath, public TagTable {
 public:
  RequestPath(const EndpointConfig& config, const DeviceParts& parts, DeviceContexts& contexts,
              EndpointCounters& counters, LatencyTracer& tracer);
  /// Before the simulation starts. translations: null where the device has no ATC.
  void connect(Handles& handles, Translations* translations) {
    handles_ = &handles;
    translations_ = translations;
  }
  /// May change a request, and the tag that a read takes: from its own and the oldest that is out.
  using RequestHook = std::function<void(Tlp&)>;
  using TagHook = std::function<std::uint16_t(std::uint16_t own, std::uint16_t oldest)>;
  void set_hooks(RequestHook request_hook, TagHook tag_hook) {
    request_hook_ = std::move(request_hook);
    tag_hook_ = std::move(tag_hook);
  }

  NextTransfer next(Time now) override;
  void begin(Engine& engine, const Transfer& transfer, Time now) override;
  bool send_next(Time now) override;
  void sent(const Packet& packet, HandlePin posted_pin) override;
  bool complete(Packet& packet, Time now) override;
  void check_timeouts(Time now) override;
  void end_due(Time now) override;
  Time next_end() const override { return ends_.next(); }

  std::size_t free_tags(unsigned function) override { return outstanding_.free_tags(function); }
  void open_read(Packet& packet, HandlePin pin, Time now) override;
  void open_translation(unsigned function, const PacketRef& packet, HandlePin pin,
                        std::uint32_t slot, Time now) override;
  void close_translation(unsigned function, std::uint16_t tag) override {
    outstanding_.close(function, tag);
  }
  void fail(std::uint32_t transfer, TransferStatus status, Time now) override;

  /// Software has enabled tags of so many bits. [LNK-9.8]
  void set_tag_bits(unsigned bits) { outstanding_.set_tag_bits(bits); }
  /// The link is down: what is out will have no answer, late ones neither. [LNK-10.6]
  void link_lost(Time now) {
    give_up(Time::never(), "link_lost", now);
    outstanding_.release_due(Time::never());
  }

  std::size_t tags_per_function() const { return outstanding_.tags_per_function(); }
  /// The function may not send: what is not sent of its transfers never is. REQUIRES: the functions
  /// are apart.
  void drop(unsigned function, Time now);

  bool is_busy() const { return is_busy_; }  ///< a transfer is being cut into TLPs
  /// Nothing is under way, of one function or of all.
  bool is_clear(unsigned function) const;
  bool is_clear() const { return outstanding_.size() == 0 && ends_.empty(); }
  bool is_quiet() const { return is_clear() && !is_busy_; }
  /// REQUIRES: is_busy().
  DomainId present_domain() const { return active_[present_.transfer].transfer.domain; }
  std::size_t outstanding() const { return outstanding_.size(); }
  std::size_t held_tags() const { return outstanding_.held(); }
  /// When the next of them is free again, if nothing comes for it.
  Time next_release() const { return held_tags() == 0 ? Time{} : outstanding_.next_release(); }
  std::uint16_t oldest_tag() const { return outstanding_.oldest()->tag; }  ///< likewise some are
  /// When the last read so far was over at its engine.
  Time last_completion() const { return last_completion_; }
  void start_window(Time now) { window_tags_ = tag_stall_.so_far(now); }
  /// In the window: reads that waited for a tag, and how long.
  StallCount tag_stall(Time now) const { return tag_stall_.so_far(now) - window_tags_; }
  std::vector<CheckResult> checks(const std::string& at) const;

 private:
  /// A transfer that is being cut into TLPs or waits for its data.
  struct Active {
    Transfer transfer;
    Engine* engine = nullptr;
    std::uint32_t tlps_out = 0;
    bool all_sent = false;
    TransferStatus status = TransferStatus::kDone;
    WriteRequestRef write;  // of its TLPs, if it is a write of several
  };

  PacketRef make_request(const Transfer& transfer, const DeviceIdentity& identity,
                         const Handles::Answer& handle, Time now);
  void set_attributes(Tlp& tlp, const Transfer& transfer, const DeviceIdentity& identity,
                      const Handles::Answer& handle);
  void fill_payload(Packet& packet, const Transfer& transfer);
  std::uint16_t open(unsigned function, OutstandingRequest&& request, Time now);
  void after_piece(Time now);
  void end_transfer(std::uint32_t slot, Time now);
  void end_behind_pipeline(std::uint32_t slot, Time now);
  void take_completion(unsigned function, const Packet& packet, OutstandingRequest& request,
                       Time now);
  void take_late(unsigned function, const Tlp& tlp);
  void close(unsigned function, std::uint16_t tag, TransferStatus status, Time now);
  void take_data(unsigned function, const Packet& packet, OutstandingRequest& request, Time now);
  void finish(unsigned function, std::uint16_t tag, OutstandingRequest& request,
              TransferStatus status, Time now);
  void tlp_over(std::uint32_t slot, Packet& request, TransferStatus status, Time now);
  void give_up(Time due_by, const char* kind, Time now);
  Time deadline_of(const Packet& request, Time now) const;

  const EndpointConfig config_;
  const DeviceParts s_;
  DeviceContexts& contexts_;
  EndpointCounters& counters_;
  LatencyTracer& tracer_;
  Handles* handles_ = nullptr;
  Translations* translations_ = nullptr;
  OutstandingRequests outstanding_;
  TokenPool<Active> active_;
  TransferCursor present_;
  bool is_busy_ = false;                // with present_
  std::vector<std::uint32_t> dropped_;  // scratch
  DueQueue<std::uint32_t> ends_;  // transfers that are over at the link, and not yet at the engine
  std::uint64_t pattern_ = 0;
  RequestHook request_hook_;  // these may be empty
  TagHook tag_hook_;
  StallClock tag_stall_;
  StallCount window_tags_;
  Time last_completion_{};
};

}  // namespace flitwise
