// SPDX-License-Identifier: Apache-2.0
// From transfers to TLPs. What comes back is in request_completions.cpp.
#include "endpoint/request_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace flitwise {

RequestPath::RequestPath(const EndpointConfig& config, const DeviceParts& parts,
                         DeviceContexts& contexts, EndpointCounters& counters,
                         LatencyTracer& tracer)
    : config_(config),
      s_(parts),
      contexts_(contexts),
      counters_(counters),
      tracer_(tracer),
      outstanding_(parts.functions.count(), config.device.tag_bits) {}

NextTransfer RequestPath::next(Time t) {
  if (is_busy_) {
    return NextTransfer::kSend;
  }
  if (translations_ == nullptr) {
    return NextTransfer::kNew;
  }
  const NextTransfer next = translations_->next(present_, t);
  is_busy_ = next == NextTransfer::kSend;
  return next;
}

void RequestPath::begin(Engine& engine, const Transfer& transfer, Time t) {
  const std::uint32_t slot = active_.open({transfer, &engine, 0, false, TransferStatus::kDone, {}});
  if (translations_ != nullptr) {
    translations_->begun(transfer, slot, t);
  }
  const bool is_read = transfer.op == Op::kRead;
  present_.transfer = slot;
  present_.splitter =
      RequestSplitter(transfer.address, transfer.bytes, is_read ? s_.control.mrrs : s_.control.mps);
  present_.splitter.next(present_.piece);
  is_busy_ = true;
}

// In one piece: every request comes this way.
[[gnu::flatten, gnu::noinline]] bool RequestPath::send_next(Time t) {
  const Transfer& transfer = active_[present_.transfer].transfer;
  const DeviceIdentity& identity = s_.functions.identity_of(transfer.domain);
  const unsigned function = s_.functions.index_of(identity.bdf);
  if (!s_.functions.are_all_running() && !s_.functions.is_running(function)) {
    if (s_.functions.are_apart()) {
      drop(function, t);
    }
    return s_.functions.are_apart();
  }
  const bool is_read = transfer.op == Op::kRead;
  if (!s_.output.may_leave(is_read ? FcClass::kNonPosted : FcClass::kPosted, t)) {
    return false;
  }
  const std::size_t free_tags = outstanding_.free_tags(function);
  tag_stall_.set(is_read && free_tags == 0, t);
  if (is_read && free_tags == 0) {
    return false;
  }
  Translations::Route route;
  if (translations_ != nullptr) {
    route = translations_->route(transfer, identity, present_, t);
    if (route.step != Translations::Step::kGo) {
      is_busy_ = route.step == Translations::Step::kWait;
      return !is_busy_;
    }
  }
  Handles::Answer handle;
  if (config_.link.identity == Identity::kDhi) {
    handle = handles_->acquire(transfer, identity, transfer.op, free_tags, t);
    if (handle.outcome == Handles::Outcome::kWait) {
      return false;
    }
  }
  handle.latency += route.latency;
  PacketRef packet = make_request(transfer, identity, handle, t);
  if (is_read) {
    open_read(*packet, handle.pin, t);
  }
  s_.output.send(std::move(packet), t + config_.device.timing.pipeline + handle.latency,
                 is_read ? HandlePin{} : handle.pin);
  after_piece(t);
  return true;
}

[[gnu::noinline]] void RequestPath::drop(unsigned function, Time t) {
  const bool is_present = is_busy_ && s_.functions.function_of(present_domain()) == function;
  dropped_.clear();
  if (translations_ != nullptr) {
    translations_->drop(function, is_present, dropped_);
  }
  if (is_present) {
    is_busy_ = false;
    dropped_.push_back(present_.transfer);
  }
  for (const std::uint32_t transfer : dropped_) {
    fail(transfer, TransferStatus::kContextEnded, t);
  }
}

PacketRef RequestPath::make_request(const Transfer& transfer, const DeviceIdentity& identity,
                                    const Handles::Answer& handle, Time t) {
  const RequestPiece& piece = present_.piece;
  const bool has_bytes =
      transfer.op != Op::kRead && (config_.real_payload || transfer.data != nullptr);
  PacketRef packet =
      s_.pool.make(PacketKind::kTlp, has_bytes ? std::size_t{piece.length_dw} * 4 : 0);
  Tlp& tlp = packet->tlp;
  tlp.type = transfer.op == Op::kRead ? TlpType::kMRd : TlpType::kMWr;
  piece.apply(tlp);
  set_attributes(tlp, transfer, identity, handle);
  packet->domain = transfer.domain;
  packet->identity = identity;
  packet->context = s_.functions.context_of(transfer.domain);
  packet->has_identity = true;
  packet->request = present_.transfer;
  packet->counts = transfer.counts;
  packet->stamp(Hop::kIssue, transfer.issue);
  packet->stamp(Hop::kHandle, t + handle.latency);
  if (request_hook_) {
    request_hook_(tlp);
  }
  if (transfer.op != Op::kRead) {
    packet->payload_bytes = piece.bytes;
    packet->is_whole_request = piece.bytes == transfer.bytes;
    if (!packet->is_whole_request) {
      WriteRequestRef& write = active_[present_.transfer].write;
      if (!write) {
        write = s_.pool.make_write(transfer.bytes);
      }
      packet->write = write;
    }
    counters_.posted_bytes += piece.bytes;
    ++counters_.settled;
    fill_payload(*packet, transfer);
  }
  s_.sizer.size(*packet);
  return packet;
}

// Order, address type, and whose it is.
void RequestPath::set_attributes(Tlp& tlp, const Transfer& transfer, const DeviceIdentity& identity,
                                 const Handles::Answer& handle) {
  // An interrupt tells of data before it, which it must not pass. [LNK-9.1]
  const bool is_interrupt = transfer.op == Op::kMsi;
  const bool may_relax = !handle.must_keep_order && !is_interrupt && !transfer.keeps_order;
  tlp.relaxed_ordering = s_.control.relaxed_ordering && may_relax;
  tlp.id_based_ordering = s_.control.id_based_ordering && may_relax;
  tlp.no_snoop = s_.control.no_snoop && !is_interrupt;
  if (transfer.steering_tag != kNoSteeringTag) {
    tlp.has_processing_hint = true;
    tlp.tag = transfer.steering_tag;
  }
  const At at = is_interrupt ? At::kUntranslated : config_.at;
  tlp.at = at == At::kUntranslated ? AddressType::kUntranslated : AddressType::kTranslated;
  bool has_pasid = at != At::kTranslated;  // A translated request needs none. [LNK-3.8]
  if (translations_ != nullptr) {
    has_pasid = translations_->apply_route(tlp, identity, present_.piece);
  }
  const bool has_handle = handle.outcome == Handles::Outcome::kHandle;
  DeviceIdentity named = identity;
  if (!has_pasid) {
    named.pasid.reset();
  }
  apply_identity(tlp, config_.form(), named,
                 has_handle ? OptionalId<Dhi>(handle.dhi) : OptionalId<Dhi>(),
                 is_interrupt ? RequestUse::kInterrupt : RequestUse::kData);
}

// Bytes of the transfer, or a pattern that no two writes share. What an engine has to say, such as
// credits, goes out whatever workload.real_payload says.
void RequestPath::fill_payload(Packet& packet, const Transfer& transfer) {
  if (!config_.real_payload && transfer.data == nullptr) {
    packet.length_only = true;
    return;
  }
  const RequestPiece& piece = present_.piece;
  const std::size_t bytes = packet.payload.size();
  const auto lead = static_cast<std::size_t>(__builtin_ctz(piece.first_be | 0x10U));
  if (transfer.data != nullptr) {
    std::fill(packet.payload.begin(), packet.payload.end(), std::uint8_t{0});
    std::memcpy(packet.payload.data() + lead, transfer.data + piece.offset, piece.bytes);
    return;
  }
  std::uint64_t pattern = pattern_;
  std::uint8_t* const data = packet.payload.data();
  for (std::size_t i = 0; i + 8 <= bytes; i += 8) {
    ++pattern;
    std::memcpy(data + i, &pattern, 8);
  }
  if (bytes % 8 != 0) {
    ++pattern;
    std::memcpy(data + bytes - 4, &pattern, 4);
  }
  pattern_ = pattern;
}

std::uint16_t RequestPath::open(unsigned function, OutstandingRequest&& request, Time t) {
  request.deadline = t + config_.device.timing.completion_timeout;
  if (outstanding_.size() == 0) {
    s_.output.wake_at(request.deadline);
  }
  return outstanding_.open(function, std::move(request));
}

void RequestPath::open_read(Packet& packet, HandlePin pin, Time t) {
  const bool is_flush = packet.purpose == HandlePurpose::kFlush;
  const unsigned function = s_.functions.index_of(packet.identity.bdf);
  OutstandingRequest request;
  request.request = PacketRef(&packet);
  request.reassembly = Reassembly(packet.tlp, s_.control.mps);
  counters_.asked_bytes += request.reassembly.bytes_left();
  request.pin = pin;
  request.transfer = present_.transfer;
  request.offset = is_flush ? 0 : present_.piece.offset;
  packet.tlp.tag = open(function, std::move(request), t);
  if (translations_ != nullptr) {
    translations_->read_opened(function, packet.tlp.tag, is_flush);
  }
  if (tag_hook_ && outstanding_.oldest()->function == function) {
    packet.tlp.tag = tag_hook_(packet.tlp.tag, outstanding_.oldest()->tag);
  }
  if (!is_flush) {
    ++active_[present_.transfer].tlps_out;
  }
}

void RequestPath::open_translation(unsigned function, const PacketRef& packet, HandlePin pin,
                                   std::uint32_t slot, Time t) {
  OutstandingRequest request;
  request.request = packet;
  request.pin = pin;
  request.transfer = slot;
  packet->tlp.tag = open(function, std::move(request), t);
}

void RequestPath::after_piece(Time t) {
  const bool has_more = present_.splitter.next(present_.piece);
  if (translations_ != nullptr) {
    translations_->piece_gone(has_more);
  }
  if (has_more) {
    return;
  }
  Active& active = active_[present_.transfer];
  active.all_sent = true;
  is_busy_ = false;
  if (active.tlps_out == 0) {
    end_transfer(present_.transfer, t);
  }
  if (translations_ != nullptr) {
    translations_->transfer_gone(t);
  }
}

// What the handle table has to know of a packet that is on its way. [DHI D10]
void RequestPath::sent(const Packet& packet, HandlePin posted_pin) {
  if (posted_pin) {
    handles_->posted_sent(posted_pin);
  } else if (packet.tlp.type == TlpType::kMRd && handles_->is_active()) {
    OutstandingRequest* const request =
        outstanding_.find(s_.functions.index_of(packet.identity.bdf), packet.tlp.tag);
    if (request != nullptr) {
      request->posted_serial = handles_->posted_serial();
    }
  }
}

bool RequestPath::is_clear(unsigned function) const {
  return outstanding_.in_use(function) == 0 && !ends_.has([&](std::uint32_t slot) {
    return s_.functions.function_of(active_[slot].transfer.domain) == function;
  });
}

std::vector<CheckResult> RequestPath::checks(const std::string& at) const {
  const EndpointCounters& c = counters_;
  return {
      {at + ": every request is answered", outstanding_.size() == 0,
       fmt::format("{} wait", outstanding_.size())},
      {at + ": all tags are back", outstanding_.tags_out() == 0,
       fmt::format("{} are out", outstanding_.tags_out())},
      {at + ": bytes asked for have come or failed",
       c.asked_bytes == c.delivered_bytes + c.failed_bytes,
       fmt::format("{} asked, {} delivered, {} failed", c.asked_bytes, c.delivered_bytes,
                   c.failed_bytes)},
  };
}

}  // namespace flitwise
