// SPDX-License-Identifier: Apache-2.0
// DMA of a script.
#include "script/script_engine.h"

#include <fmt/format.h>

#include <boost/range/algorithm_ext/erase.hpp>

#include <algorithm>
#include <cstring>

#include "common/page.h"
#include "config_space/capabilities.h"
#include "flitwise/error.h"
#include "tlp/header_layout.h"
#include "tlp/tlp_check.h"
#include "tlp/wire_size.h"

namespace flitwise {

ScriptEngine::ScriptEngine(const LinkConfig& link, const DeviceConfig& device, PacketPool& pool,
                           OnCompletion on_completion)
    : link_(link),
      device_tag_bits_(device.tag_bits),
      mps_(static_cast<std::uint32_t>(link.mps)),
      mrrs_(static_cast<std::uint32_t>(link.mrrs)),
      timeout_(device.timing.completion_timeout),
      pool_(pool),
      tags_(device.tag_bits),
      on_completion_(std::move(on_completion)) {}

std::uint32_t ScriptEngine::most_bytes() const {
  // An unaligned start may take one request more, and so may an unaligned end.
  return static_cast<std::uint32_t>((tags_.size() - 2) * mrrs_);
}

// [LNK-9.27]
void ScriptEngine::controlled(const DeviceControl& control) {
  mps_ = control.mps;
  mrrs_ = control.mrrs;
  tags_.set_bits(control.tag_bits >= 10 ? device_tag_bits_ : control.tag_bits);
}

bool ScriptEngine::has_unsent() const {
  return std::any_of(requests_.begin(), requests_.end(), [](const Request& request) {
    return !request.is_raw && !request.is_on_wire();
  });
}

void ScriptEngine::send(PacketRef packet) {
  const Tlp& tlp = packet->tlp;
  if (!packet->malformed && fc_class(tlp.type) == FcClass::kNonPosted) {
    Request request = request_of(packet);
    request.is_raw = true;
    requests_.push_back(std::move(request));
  }
  out_.push_back({std::move(packet), false});
}

unsigned ScriptEngine::start(const DmaOp& dma, Bdf requester, std::uint32_t token) {
  FLITWISE_CHECK(dma_requests_ == 0 && dma.bytes <= most_bytes(), "one DMA at a time");
  dma_token_ = token;
  data_.assign(dma.is_write ? 0 : dma.bytes, 0);
  failures_.clear();
  has_lost_ = false;
  RequestPiece piece;
  if (dma.at == AddressType::kTranslationRequest) {
    // At least two DWs, an even number of them, all bytes enabled. [LNK-4.1]
    piece.length_dw = static_cast<std::uint16_t>(std::max((dma.bytes + 7U) / 8U * 2U, 2U));
    piece.first_be = piece.last_be = 0xf;
    piece.address = dma.address & kPageAddress;
    data_.resize(std::size_t{piece.length_dw} * 4);
    add_read(make(dma, requester, piece), 0);
    return 1;
  }
  unsigned count = 0;
  RequestSplitter splitter(dma.address, dma.bytes, dma.is_write ? mps_ : mrrs_);
  while (splitter.next(piece)) {
    PacketRef packet = make(dma, requester, piece);
    ++count;
    if (dma.is_write) {
      out_.push_back({std::move(packet), true});
    } else {
      add_read(std::move(packet), piece.offset);
    }
  }
  return count;
}

PacketRef ScriptEngine::make(const DmaOp& dma, Bdf requester, const RequestPiece& piece) {
  PacketRef packet = pool_.make(PacketKind::kTlp);
  packet->request = dma_token_;
  Tlp& tlp = packet->tlp;
  tlp.type = dma.is_write ? TlpType::kMWr : TlpType::kMRd;
  tlp.at = dma.at;
  tlp.requester_id = requester;
  tlp.has_pasid = dma.pasid.has_value();
  tlp.pasid = dma.pasid.value_or(Pasid{});
  tlp.privileged_mode_requested = tlp.has_pasid && dma.privileged;
  tlp.execute_requested = tlp.has_pasid && dma.execute;
  piece.apply(tlp);
  const bool is_translation = dma.at == AddressType::kTranslationRequest;
  tlp.processing_hint = is_translation && dma.no_write ? 1U << kNoWriteBit : 0U;
  if (dma.is_write) {
    packet->payload_bytes = piece.bytes;
    packet->payload.assign(std::size_t{piece.length_dw} * 4, 0);
    std::memcpy(packet->payload.data() + __builtin_ctz(piece.first_be | 0x10U) % 4,
                dma.data.data() + piece.offset, piece.bytes);
  }
  packet->size = wire_size_of(tlp, packet->payload_bytes);
  return packet;
}

void ScriptEngine::add_read(PacketRef packet, std::uint64_t offset) {
  packet->tlp.tag = tags_.take();
  Request request = request_of(packet);
  request.offset = offset;
  requests_.push_back(std::move(request));
  ++dma_requests_;
  out_.push_back({std::move(packet), true});
}

ScriptEngine::Request ScriptEngine::request_of(const PacketRef& packet) const {
  constexpr unsigned kMostTranslationBytes = 128;  // the largest RCB [ATR-08]
  const Tlp& tlp = packet->tlp;
  Request request;
  request.packet = packet;
  request.is_translation = tlp.type == TlpType::kMRd &&
                           tlp.at == AddressType::kTranslationRequest &&
                           is_legal_translation_request(tlp, kMostTranslationBytes);
  if (request.is_translation) {
    request.translations =
        TranslationReceiver(tlp, tlp.has_pasid, static_cast<unsigned>(link_.rcb), 0);
  } else {
    request.reassembly = Reassembly(tlp, static_cast<std::uint32_t>(link_.mps));
  }
  return request;
}

// DMA of a function that may not send holds back no DMA of other functions. TLPs as they are keep
// their place. [LNK-9.27]
PacketRef ScriptEngine::next(const MaySend& may_send) {
  // Messages and completions may always: an Invalidate Completion is sent without Bus Master
  // Enable. [INV-25]
  const auto may_leave = [&](const Unsent& unsent) {
    const Tlp& tlp = unsent.packet->tlp;
    return !(is_memory_request(tlp.type) || is_io(tlp.type)) ||
           may_send(unsent.is_dma ? std::optional<Bdf>(tlp.requester_id) : std::nullopt);
  };
  for (auto unsent = out_.begin(); unsent != out_.end(); ++unsent) {
    const bool is_next = unsent == out_.begin() || unsent->is_dma;
    if (is_next && may_leave(*unsent)) {
      PacketRef packet = std::move(unsent->packet);
      out_.erase(unsent);
      return packet;
    }
    if (!unsent->is_dma) {
      return {};
    }
  }
  return {};
}

bool ScriptEngine::complete(const Packet& packet, Time /*now*/) {
  const Tlp& tlp = packet.tlp;
  const auto found = std::find_if(requests_.begin(), requests_.end(), [&](const Request& request) {
    const Tlp& asked = request.packet->tlp;
    // An answer may name the owner of the handle that the request went by. [DHI D16]
    const bool names_owner = asked.id_is_handle && !tlp.id_is_handle;
    return asked.tag == tlp.tag && (names_owner || asked.requester_id == tlp.requester_id);
  });
  if (found == requests_.end()) {
    return false;
  }
  const Fit fit = fit_of(*found, packet);
  if (!fit.is_answer) {
    return false;
  }
  if (found->is_raw) {
    on_completion_(packet, found->packet->request);
  } else {
    if (fit.brings_data) {
      take(*found, packet);
    }
    if (!fit.brings_data || (has_poisoned_data(tlp) && !found->is_translation)) {
      failures_.push_back({tlp.tag, tlp.status, has_poisoned_data(tlp)});
    }
  }
  if (fit.brings_data && found->is_translation) {
    found->translations.accept(tlp, packet.payload.data());
  } else if (fit.brings_data) {
    found->reassembly.accept(tlp);
  }
  if (fit.is_last) {
    finish(static_cast<std::size_t>(found - requests_.begin()));
  }
  return true;
}

// [TCP-01] [TCP-08]
ScriptEngine::Fit ScriptEngine::fit_of(const Request& request, const Packet& packet) {
  if (request.is_translation) {
    const TranslationVerdict verdict =
        request.translations.check(packet.tlp, packet.payload.data());
    const bool is_partial = verdict == TranslationVerdict::kPartial;
    const bool brings_entries = is_partial || verdict == TranslationVerdict::kLast;
    const bool has_failed = packet.tlp.status != CplStatus::kSC || has_poisoned_data(packet.tlp);
    return {brings_entries || has_failed, brings_entries, !is_partial};
  }
  const CompletionFit fit = request.reassembly.check(packet.tlp);
  const bool is_partial = fit == CompletionFit::kPartial;
  return {fits(fit), is_partial || fit == CompletionFit::kLast, !is_partial};
}

// Books the data of a completion in; what is poisoned is left out. [LNK-9.26]
void ScriptEngine::take(Request& request, const Packet& packet) {
  if (request.is_translation) {
    // Entries as they stand on the wire; there may be fewer than were asked for. [ATR-19]
    data_.resize(request.received);
    data_.insert(data_.end(), packet.payload.begin(), packet.payload.end());
    request.received += static_cast<std::uint32_t>(packet.payload.size());
    return;
  }
  const std::uint32_t bytes = request.reassembly.bytes_in(packet.tlp);
  const std::size_t to = request.offset + request.received;
  if (!has_poisoned_data(packet.tlp) && !packet.payload.empty() && to + bytes <= data_.size()) {
    std::memcpy(data_.data() + to, packet.payload.data() + packet.tlp.lower_address % 4, bytes);
  }
  request.received += bytes;
}

void ScriptEngine::finish(std::size_t index) {
  if (!requests_[index].is_raw) {
    tags_.give(requests_[index].packet->tlp.tag);
    --dma_requests_;
  }
  requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(index));
}

// What waits to be sent has no clock yet; it starts with the first symbol on the wire. [LNK-9.18]
Time ScriptEngine::deadline_of(const Request& request, Time now) const {
  const Time begin = request.is_on_wire() ? request.packet->stamped(Hop::kSent) : now;
  return request.is_given_out() ? begin + timeout_ : Time::never();
}

Time ScriptEngine::next_timeout(Time now) const {
  Time next = Time::never();
  for (const Request& request : requests_) {
    next = std::min(next, deadline_of(request, now));
  }
  return next;
}

PacketRef ScriptEngine::give_up_next(Time now, bool is_link_lost) {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (is_link_lost ? requests_[i].is_given_out() : deadline_of(requests_[i], now) <= now) {
      return lose(i);
    }
  }
  return {};
}

void ScriptEngine::dropped(const Packet& packet) {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i].packet.get() == &packet) {
      lose(i);
      return;
    }
  }
}

std::vector<PacketRef> ScriptEngine::give_up_unsent() {
  std::vector<PacketRef> unsent;
  for (std::size_t i = requests_.size(); i-- > 0;) {
    if (!requests_[i].is_raw && !requests_[i].is_on_wire()) {
      unsent.insert(unsent.begin(), lose(i));
    }
  }
  boost::range::remove_erase_if(out_, [&unsent](const Unsent& one) {
    return std::find(unsent.begin(), unsent.end(), one.packet) != unsent.end();
  });
  return unsent;
}

PacketRef ScriptEngine::lose(std::size_t index) {
  PacketRef packet = requests_[index].packet;
  has_lost_ |= !requests_[index].is_raw;
  finish(index);
  return packet;
}

std::string ScriptEngine::waits_for() const {
  if (out_.empty() && requests_.empty()) {
    return "";
  }
  return fmt::format("{} TLPs of the script wait to be sent, {} of its requests for completions",
                     out_.size(), requests_.size());
}

}  // namespace flitwise
