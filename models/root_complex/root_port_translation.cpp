// SPDX-License-Identifier: Apache-2.0
// One root port: requests that the translation agent looks at first.
#include <algorithm>
#include <array>

#include "ats/translation_completion.h"
#include "ats/translation_request.h"
#include "iommu/tlp_request.h"
#include "root_complex/root_port.h"

namespace flitwise {
void RootPort::attach(TranslationAgent& agent) {
  stage_ = std::make_unique<TranslationStage>(
      agent, [this](const TranslationStage::Entry& entry) { serve(entry); },
      [this](const TranslationStage::Entry& entry, const WalkResult& result, std::uint64_t& next) {
        return needs_more(entry, result, next);
      });
}

void RootPort::start_window() {
  for (Outbox* const outbox : {&posted_, &nonposted_, &completions_}) {
    outbox->waits().start_window(now());
  }
  if (stage_) {
    stage_->order_waits().start_window(now());
  }
}

std::vector<WaitResult> RootPort::waits() const {
  std::vector<WaitResult> all = {
      posted_.waits().result(
          {name(), "posted_queue", ResourceRole::kQueue, "down", "", "link.queue_depth"}),
      nonposted_.waits().result(
          {name(), "nonposted_queue", ResourceRole::kQueue, "down", "", "link.queue_depth"}),
      completions_.waits().result(
          {name(), "completion_queue", ResourceRole::kQueue, "down", "", "link.queue_depth"})};
  if (stage_) {
    all.push_back(stage_->order_waits().result({name(), "order", ResourceRole::kQueue, "up"}));
  }
  return all;
}

// Named in full, or by a handle. [DHI D17]
DeviceIdentity RootPort::domain_behind(const Packet& packet) const {
  return packet.resolved ? *packet.resolved : identity_of(packet.tlp, form_).full;
}

// The buffer stays taken until the request has gone on. [LNK-9.4]
void RootPort::translate(Packet& packet, const Standing& standing, Time delay) {
  if (is_translation_request(packet.tlp) &&
      check_translation_request(packet.tlp, static_cast<unsigned>(config_.link.rcb), true) ==
          AgentVerdict::kMalformedTlp) {
    --counters_.nonposted;  // it gets no answer [ATR-06] [ATR-07]
    refuse_malformed(packet, TlpViolation::kBadLength);
    return;
  }
  TranslationStage::Entry entry;
  entry.packet = PacketRef(&packet);
  entry.is_trusted = standing.is_trusted;
  entry.capabilities = standing.capabilities;
  holds_buffer_ = true;
  WalkRequest request = walk_request_of(packet.tlp, domain_behind(packet));
  request.is_trusted = standing.is_trusted;
  stage_->translate(std::move(entry), request, delay);
}

// Translation is off by now, but this packet may not pass one that came before. [IOM-1.4] [LNK-9.1]
void RootPort::keep_place(Packet& packet, const Standing& standing, Time delay) {
  TranslationStage::Entry entry;
  entry.packet = PacketRef(&packet);
  entry.is_trusted = standing.is_trusted;
  entry.capabilities = standing.capabilities;
  entry.is_translated = true;
  entry.result.outcome = WalkOutcome::kTranslated;
  entry.result.address = packet.tlp.address;
  entry.when = now() + delay;
  holds_buffer_ = true;
  stage_->hold(std::move(entry));
}

// It is the packet's turn, be it while it is received or later: then its buffer is free now.
void RootPort::serve(const TranslationStage::Entry& entry) {
  Packet& packet = *entry.packet;
  const bool is_other = packet_received_ != &packet;
  const bool held = holds_buffer_;
  holds_buffer_ = false;
  if (entry.is_translated) {
    serve_translated(entry);
  } else {
    take_unordered(packet, now());
  }
  if (is_other) {
    if (!holds_buffer_) {
      release(packet);
    }
    holds_buffer_ = held;
  }
}

void RootPort::serve_translated(const TranslationStage::Entry& entry) {
  Packet& packet = *entry.packet;
  const WalkResult& result = entry.result;
  const Time delay = std::max(entry.when, now()) - now();
  Standing standing;
  standing.is_trusted = entry.is_trusted;
  standing.capabilities = entry.capabilities;
  if (packet.tlp.at == AddressType::kTranslationRequest) {
    answer_translation(entry, delay);
  } else if (result.outcome == WalkOutcome::kFault) {
    refuse(packet, CplStatus::kUR, "translation_fault", delay);
  } else if (result.outcome == WalkOutcome::kInterrupt || is_interrupt_address(result.address)) {
    interrupt(packet, delay);
  } else {
    serve_address(packet, result.address, standing, delay);
  }
}

// One translation after another, each when the one before is known. [ATR-21]
bool RootPort::needs_more(const TranslationStage::Entry& entry, const WalkResult& result,
                          std::uint64_t& next) {
  const Tlp& tlp = entry.packet->tlp;
  if (!TranslationGather::is_needed_for(tlp)) {
    return false;
  }
  const DeviceIdentity domain = domain_behind(*entry.packet);
  const unsigned stu = stu_of(domain.bdf);
  auto gather = std::find_if(gathers_.begin(), gathers_.end(),
                             [&](const Gather& one) { return one.ticket == entry.ticket; });
  if (gather == gathers_.end()) {
    gather = gathers_.insert(gathers_.end(), {entry.ticket, TranslationGather(tlp, stu)});
  }
  gather->translations.add(translation_entry_of(result, domain.pasid.has_value(), stu));
  const std::optional<std::uint64_t> address = gather->translations.next();
  next = address.value_or(0);
  return address.has_value();
}

// A refusal behind the first translation ends the reply there. [ATR-01] [ATR-24] [IOM-7.1]
void RootPort::answer_translation(const TranslationStage::Entry& entry, Time delay) {
  Packet& packet = *entry.packet;
  const WalkResult& result = entry.result;
  const auto gather = std::find_if(gathers_.begin(), gathers_.end(),
                                   [&](const Gather& one) { return one.ticket == entry.ticket; });
  if (gather == gathers_.end() && result.answer != AtsAnswer::kSuccess) {
    refuse(packet, result.answer == AtsAnswer::kCompleterAbort ? CplStatus::kCA : CplStatus::kUR,
           "translation_request_refused", delay);
    return;
  }
  ++counters_.reads;
  ++counters_.answered;
  std::array<std::uint8_t, kTranslationBytes * kMaxTranslations> bytes{};
  unsigned length = 1;
  if (gather == gathers_.end()) {
    const DeviceIdentity whose = domain_behind(packet);
    const TranslationEntry found =
        translation_entry_of(result, whose.pasid.has_value(), stu_of(whose.bdf));
    store_reply(bytes.data(), &found, 1);
  } else {
    length = gather->translations.length();
    store_reply(bytes.data(), gather->translations.found(), length);
    gathers_.erase(gather);
  }
  const unsigned split = config_.iommu.reply_split;
  TranslationReply reply(length, static_cast<unsigned>(config_.link.rcb),
                         split < length ? split : 0);
  CompletionPiece piece;
  while (reply.next(piece)) {
    PacketRef answer = make_completion(packet);
    const Bdf requester = answer->tlp.requester_id;
    const bool id_is_handle = answer->tlp.id_is_handle;
    answer->tlp = translation_cpld(packet.tlp, piece);
    answer->tlp.requester_id = requester;
    answer->tlp.id_is_handle = id_is_handle;
    answer->has_protocol_data = true;
    answer->payload.assign(bytes.begin() + piece.offset,
                           bytes.begin() + piece.offset + piece.bytes);
    sizer_.size(*answer);
    send(completions_, std::move(answer), now() + delay + config_.host.timing.root_port);
  }
}

}  // namespace flitwise
