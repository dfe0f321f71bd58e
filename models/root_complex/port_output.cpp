// SPDX-License-Identifier: Apache-2.0
// What goes down, and counters.
#include "root_complex/port_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "ats/translation_completion.h"
#include "flitwise/link_socket.h"
#include "link/transaction_queues.h"
#include "tlp/identity.h"

namespace flitwise {
namespace {

constexpr std::size_t kOutboxDepth = 64;

}  // namespace

void PortRecord::observe(const char* what, const char* detail, const Packet& packet) const {
  if (observer != nullptr && *observer) {
    (*observer)({now(), port_, what, detail, &packet});
  }
}

void PortRecord::settle(const Packet& packet) {
  const bool is_own_account =
      packet.purpose != HandlePurpose::kNone || packet.tlp.at == AddressType::kTranslationRequest;
  const bool is_request = !is_completion(packet.tlp.type) && !is_message(packet.tlp.type);
  counters.settled += is_request && !is_own_account ? 1 : 0;
}

[[gnu::noinline]] void PortRecord::note(const Packet& packet, cfg::aer::Uncorrectable error,
                                        const char* kind, const char* detail) {
  using cfg::aer::Uncorrectable;
  ++errors[kind];
  const char* const event = error == Uncorrectable::kCompleterAbort       ? "completer_abort"
                            : error == Uncorrectable::kUnsupportedRequest ? "unsupported_request"
                                                                          : kind;
  observe(event, detail, packet);
  if (host != nullptr) {
    host->report(error, packet);
  }
}

void PortRecord::end(const Packet& packet) {
  ++counters.refused;
  settle(packet);
  counters.dropped_bytes += packet.tlp.type == TlpType::kMWr ? packet.payload_bytes : 0;
}

[[gnu::noinline]] void PortRecord::drop(const Packet& packet, cfg::aer::Uncorrectable error,
                                        const char* kind) {
  end(packet);
  note(packet, error, kind, kind);
}

[[gnu::noinline]] void PortRecord::drop_malformed(const Packet& packet, TlpViolation violation) {
  ++errors[std::string("malformed_tlp.") + name_of(violation)];
  end(packet);
  note(packet, cfg::aer::Uncorrectable::kMalformedTlp, "malformed_tlp", name_of(violation));
}

std::vector<CheckResult> PortRecord::checks() const {
  const std::string at = port_;
  const RootPortCounters& c = counters;
  const std::uint64_t settled = c.writes + c.reads + c.interrupts + c.messages + c.handle_messages +
                                c.completions + c.refused;
  return {
      {at + ": every TLP was served or refused", c.received == settled,
       fmt::format("{} received, {} settled", c.received, settled)},
      {at + ": one answer for each request", c.nonposted == c.answered,
       fmt::format("{} requests, {} answers", c.nonposted, c.answered)},
  };
}

PortOutput::PortOutput(const RootPortConfig& config, PacketPool& pool, PortWire& link,
                       PortRecord& record)
    : latency_(config.host.timing.root_port),
      mps_(static_cast<std::uint32_t>(config.link.mps)),
      rcb_(static_cast<std::uint32_t>(config.link.rcb)),
      handle_is_requester_id_(config.link.identity == Identity::kDhi &&
                              is_in_requester_id(config.link.dhi_form)),
      real_payload_(config.real_payload),
      completion_hook_(config.completion_hook),
      pool_(pool),
      link_(link),
      record_(record),
      sizer_(config.link, config.message, config.handle_bits),
      posted_(kOutboxDepth),
      nonposted_(kOutboxDepth),
      completions_(kOutboxDepth),
      queues_{{{posted_, "posted_queue", "posted requests",
                queue_room(config.link.queue_depth, FcClass::kPosted)},
               {nonposted_, "nonposted_queue", "non-posted requests",
                queue_room(config.link.queue_depth, FcClass::kNonPosted)},
               {completions_, "completion_queue", "completions",
                queue_room(config.link.queue_depth, FcClass::kCompletion)}}} {}

void PortOutput::send(PacketRef packet, Time ready) {
  if (packet->size.total() == 0) {
    sizer_.size(*packet);
  }
  const auto fc = static_cast<std::size_t>(fc_class(packet->tlp.type));
  put(queues_[fc].outbox, std::move(packet), ready);
}

void PortOutput::put(Outbox& outbox, PacketRef packet, Time ready) {
  outbox.send({std::move(packet), ready, {}}, [this](const Outbox::Entry& entry) {
    return link_.give(*entry.packet, entry.ready);
  });
}

void PortOutput::drain() {
  const std::size_t posted = posted_.size();
  for (const Queue& queue : queues_) {
    queue.outbox.drain(
        [this](const Outbox::Entry& entry) { return link_.give(*entry.packet, entry.ready); });
  }
  for (std::size_t places = posted - posted_.size(); places > 0 && tell_next(); --places) {
  }
}

// Whoever waits for a place, in turn.
bool PortOutput::tell_next() {
  for (std::size_t i = 0; i < posted_left_.size(); ++i) {
    told_ = (told_ + 1) % posted_left_.size();
    if (posted_left_[told_]()) {
      return true;
    }
  }
  return false;
}

PacketRef PortOutput::make_completion(const Packet& request, std::size_t payload_bytes) const {
  PacketRef packet = pool_.make(PacketKind::kTlp, payload_bytes);
  packet->domain = request.domain;
  packet->request = request.request;
  packet->purpose = request.purpose;
  packet->counts = request.counts;
  packet->is_raw = request.is_raw;
  Tlp& tlp = packet->tlp;
  start_completion(tlp, request.tlp);
  // Completions always go to the BDF in full; a handle that names no domain is echoed. [DHI D16]
  if (request.resolved) {
    tlp.requester_id = request.resolved->bdf;
  }
  tlp.id_is_handle = handle_is_requester_id_ && request.tlp.id_is_handle && !request.resolved;
  return packet;
}

void PortOutput::complete(PacketRef packet, Time when) {
  sizer_.size(*packet);
  put(completions_, std::move(packet), when + latency_);
}

void PortOutput::answer_read(const Packet& request, const std::uint8_t* data, Time when) {
  CompletionSplitter splitter(request.tlp, mps_, rcb_);
  const std::uint32_t lead = lower_address_of(request.tlp) % 4U;
  const bool is_flush = is_zero_length_read(request.tlp);
  CompletionPiece piece;
  while (splitter.next(piece)) {
    if (completion_hook_ && !completion_hook_(piece)) {
      ++record_.errors["completion_dropped_by_fault"];
      return;
    }
    const std::size_t bytes = std::size_t{piece.length_dw} * 4;
    PacketRef packet = make_completion(request, real_payload_ ? bytes : 0);
    packet->tlp.type = TlpType::kCplD;
    packet->tlp.length_dw = piece.length_dw;
    packet->tlp.byte_count = piece.byte_count;
    packet->tlp.lower_address = piece.lower_address;
    packet->payload_bytes = is_flush ? 0 : piece.bytes;
    packet->length_only = !real_payload_;
    if (is_flush) {
      std::fill(packet->payload.begin(), packet->payload.end(), std::uint8_t{0});
    } else {
      // Whole DWs travel; the bytes around the asked ones come along.
      const std::uint8_t* const from = data + ((lead + piece.offset) & ~std::size_t{3});
      std::copy_n(from, packet->payload.size(), packet->payload.begin());
    }
    complete(std::move(packet), when);
  }
}

void PortOutput::answer_translation(const Packet& request, const CompletionPiece& piece,
                                    const std::uint8_t* translations, Time when) {
  PacketRef answer = make_completion(request);
  const Bdf requester = answer->tlp.requester_id;
  const bool id_is_handle = answer->tlp.id_is_handle;
  answer->tlp = translation_cpld(request.tlp, piece);
  answer->tlp.requester_id = requester;
  answer->tlp.id_is_handle = id_is_handle;
  answer->has_protocol_data = true;
  answer->payload.assign(translations + piece.offset, translations + piece.offset + piece.bytes);
  complete(std::move(answer), when);
}

[[gnu::noinline]] void PortOutput::refuse(const Packet& packet, CplStatus status, const char* kind,
                                          Time when) {
  record_.drop(packet,
               status == CplStatus::kCA ? cfg::aer::Uncorrectable::kCompleterAbort
                                        : cfg::aer::Uncorrectable::kUnsupportedRequest,
               kind);
  answer_without_data(packet, status, when);
}

[[gnu::noinline]] void PortOutput::refuse_poisoned(const Packet& packet, Time when) {
  record_.drop(packet, cfg::aer::Uncorrectable::kPoisonedTlp, "poisoned_tlp");
  answer_without_data(packet, CplStatus::kUR, when);
}

[[gnu::noinline]] void PortOutput::answer_without_data(const Packet& packet, CplStatus status,
                                                       Time when) {
  if (fc_class(packet.tlp.type) != FcClass::kNonPosted) {
    return;
  }
  ++record_.counters.answered;
  PacketRef answer = make_completion(packet);
  end_without_data(answer->tlp, packet.tlp, status);
  complete(std::move(answer), when);
}

std::string PortOutput::waiting(const char* at) const {
  std::string text;
  for (const Queue& queue : queues_) {
    if (!queue.outbox.empty()) {
      text += fmt::format("{}: {} {} wait for room in the link's queues\n", at, queue.outbox.size(),
                          queue.content);
    }
  }
  return text;
}

void PortOutput::start_window(Time now) {
  for (const Queue& queue : queues_) {
    queue.outbox.waits().start_window(now);
  }
}

std::vector<WaitResult> PortOutput::waits(const char* at) const {
  std::vector<WaitResult> all;
  for (const Queue& queue : queues_) {
    all.push_back(queue.outbox.waits().result(
        {at, queue.name, ResourceRole::kQueue, "down", "", "link.queue_depth", queue.room}));
  }
  return all;
}

}  // namespace flitwise
