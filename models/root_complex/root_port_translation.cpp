// SPDX-License-Identifier: Apache-2.0
// One root port: requests that the translation agent looks at first.
#include <algorithm>
#include <array>

#include "ats/translation_completion.h"
#include "ats/translation_request.h"
#include "root_complex/root_port.h"
#include "tlp/header_layout.h"
#include "tlp/splitter.h"

namespace flitwise {
namespace {

WalkKind kind_of(AddressType at) {
  switch (at) {
    case AddressType::kTranslationRequest:
      return WalkKind::kTranslationRequest;
    case AddressType::kTranslated:
      return WalkKind::kTranslated;
    default:
      return WalkKind::kUntranslated;
  }
}

WalkRequest walk_request_of(const Tlp& tlp, const DeviceIdentity& identity) {
  WalkRequest request;
  request.source = identity.bdf;
  request.pasid = identity.pasid;
  request.address = tlp.address;
  request.kind = kind_of(tlp.at);
  const bool is_translation = request.kind == WalkKind::kTranslationRequest;
  request.wish.read = tlp.type == TlpType::kMRd;
  request.wish.write =
      is_translation ? (tlp.processing_hint >> kNoWriteBit & 1U) == 0 : tlp.type == TlpType::kMWr;
  request.wish.execute = tlp.has_pasid && tlp.execute_requested;
  request.wish.privileged = tlp.has_pasid && tlp.privileged_mode_requested;
  request.wish.zero_length = is_zero_length_read(tlp);
  return request;
}

// What the function is told of its page. [ATR-01]
TranslationEntry entry_of(const WalkResult& result, bool has_pasid) {
  TranslationEntry entry;
  entry.size_bits = result.page_bits;
  entry.translated = result.address & ~((std::uint64_t{1} << result.page_bits) - 1);
  entry.read = result.read;
  entry.write = result.write;
  entry.execute = has_pasid && result.execute;
  entry.privileged = has_pasid && result.is_privileged;
  return entry;
}

}  // namespace

void RootPort::attach(TranslationAgent& agent) {
  stage_ = std::make_unique<TranslationStage>(
      agent, [this](const TranslationStage::Entry& entry) { serve(entry); });
}

// The buffer stays taken until the request has gone on. [LNK-9.4]
void RootPort::translate(Packet& packet, const Standing& standing, Time delay) {
  const DeviceIdentity identity =
      packet.resolved ? *packet.resolved : identity_of(packet.tlp, form_).full;
  if (packet.tlp.at == AddressType::kTranslationRequest &&
      check_translation_request(packet.tlp, static_cast<unsigned>(config_.link.rcb), true) ==
          AgentVerdict::kMalformedTlp) {
    --counters_.nonposted;  // nobody answers it [ATR-06] [ATR-07]
    refuse_malformed(packet, TlpViolation::kBadLength);
    return;
  }
  TranslationStage::Entry entry;
  entry.packet = PacketRef(&packet);
  entry.is_trusted = standing.is_trusted;
  entry.capabilities = standing.capabilities;
  holds_buffer_ = true;
  stage_->translate(std::move(entry), walk_request_of(packet.tlp, identity), delay);
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
    answer_translation(packet, result, delay);
  } else if (result.outcome == WalkOutcome::kFault) {
    refuse(packet, CplStatus::kUR, "translation_fault", delay);
  } else if (result.outcome == WalkOutcome::kInterrupt || is_interrupt_address(result.address)) {
    interrupt(packet, delay);
  } else {
    serve_address(packet, result.address, standing, delay);
  }
}

// [ATR-01] [ATR-24] [IOM-7.1]
void RootPort::answer_translation(Packet& packet, const WalkResult& result, Time delay) {
  if (result.answer != AtsAnswer::kSuccess) {
    refuse(packet, result.answer == AtsAnswer::kCompleterAbort ? CplStatus::kCA : CplStatus::kUR,
           "translation_request_refused", delay);
    return;
  }
  ++counters_.reads;
  ++counters_.answered;
  std::array<std::uint8_t, kTranslationBytes> bytes{};
  const TranslationEntry entry = entry_of(result, packet.tlp.has_pasid);
  store_reply(bytes.data(), &entry, 1);
  TranslationReply reply(1, static_cast<unsigned>(config_.link.rcb));
  CompletionPiece piece;
  while (reply.next(piece)) {
    PacketRef answer = make_completion(packet);
    const Bdf requester = answer->tlp.requester_id;
    const bool id_is_handle = answer->tlp.id_is_handle;
    answer->tlp = translation_cpld(packet.tlp, piece);
    answer->tlp.requester_id = requester;
    answer->tlp.id_is_handle = id_is_handle;
    answer->payload_bytes = piece.bytes;
    answer->payload.assign(bytes.begin() + piece.offset,
                           bytes.begin() + piece.offset + piece.bytes);
    sizer_.size(*answer);
    send(completions_, std::move(answer), now() + delay + config_.host.timing.root_port);
  }
}

}  // namespace flitwise
