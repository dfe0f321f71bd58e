// SPDX-License-Identifier: Apache-2.0
// Memory requests to a device: BAR 0 of its functions.
#include <algorithm>

#include "endpoint/target_unit.h"
#include "tlp/splitter.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kCompleterRcb = 128;  // of completers that are no root complex

bool is_enabled(const Tlp& tlp, std::size_t byte) {
  const std::size_t dw = byte / 4;
  const bool is_last = dw + 1U == tlp.length_dw && dw > 0;
  const unsigned enables = dw == 0 ? tlp.first_be : is_last ? tlp.last_be : 0xfU;
  return (enables >> byte % 4 & 1U) != 0;
}

}  // namespace

// The BAR that an address lies in.
std::optional<TargetUnit::Place> TargetUnit::place_of(std::uint64_t address) const {
  if (pf_bar_.contains(address)) {
    return Place{0, address - pf_bar_.base};
  }
  if (vf_bar_.contains(address)) {
    const std::uint64_t offset = address - vf_bar_.base;
    return Place{static_cast<unsigned>(offset / bar_size_) + 1, offset % bar_size_};
  }
  return std::nullopt;
}

// Where a request goes that can be served.
std::optional<TargetUnit::Place> TargetUnit::locate(const Tlp& tlp) const {
  const std::optional<Place> place = place_of(tlp.address);
  const bool is_served = place && place->offset + tlp.length_dw * 4U <= bar_size_ &&
                         !hooks_.is_in_reset(place->function);
  return is_served ? place : std::nullopt;
}

void TargetUnit::memory_write(const Arrival& arrival, Time now) {
  const Packet& packet = *arrival.packet;
  const std::optional<Place> place = locate(packet.tlp);
  if (!place) {
    refuse(arrival, "unsupported_request", cfg::aer::Uncorrectable::kUnsupportedRequest, now);
    return;
  }
  const std::size_t size = std::min<std::size_t>(packet.tlp.length_dw * 4U, packet.payload.size());
  for (std::size_t at = 0; at < size;) {
    std::size_t end = at;
    while (end < size && is_enabled(packet.tlp, end)) {
      ++end;
    }
    write_bytes({place->function, place->offset + at}, packet.payload.data() + at, end - at, now);
    at = end + 1;
  }
}

// Bytes in a row, to each owner its own.
void TargetUnit::write_bytes(Place place, const std::uint8_t* bytes, std::size_t size, Time now) {
  while (size > 0) {
    const BarMap::Part part = map_.part_at(place.function, place.offset);
    const auto own = std::min<std::uint64_t>(size, part.end - place.offset);
    if (part.owner != nullptr) {
      part.owner->mmio_write({part.region, place.function, place.offset}, bytes, own, now);
    }
    place.offset += own;
    bytes += own;
    size -= own;
  }
}

void TargetUnit::memory_read(const Arrival& arrival, Time now) {
  const Packet& request = *arrival.packet;
  const std::optional<Place> place = locate(request.tlp);
  if (!place) {
    refuse(arrival, "unsupported_request", cfg::aer::Uncorrectable::kUnsupportedRequest, now);
    return;
  }
  if (free_reads_.empty()) {
    free_reads_.push_back(static_cast<std::uint32_t>(reads_.size()));
    reads_.emplace_back();
  }
  const std::uint32_t ticket = free_reads_.back();
  free_reads_.pop_back();
  const std::size_t size = request.tlp.length_dw * std::size_t{4};
  reads_[ticket].request = arrival.packet;
  reads_[ticket].answer = arrival.answer;
  reads_[ticket].missing = 1;
  reads_[ticket].bytes.assign(size, 0);
  for (std::size_t at = 0; at < size;) {
    const std::uint64_t offset = place->offset + at;
    const BarMap::Part part = map_.part_at(place->function, offset);
    const auto own = std::min<std::uint64_t>(size - at, part.end - offset);
    if (part.owner != nullptr) {
      ++reads_[ticket].missing;
      part.owner->mmio_read({{part.region, place->function, offset}, own, ticket, at}, *this, now);
    }
    at += own;
  }
  part_is_there(ticket, now);
}

void TargetUnit::answer(const MmioRead& read, const std::uint8_t* bytes, Time now) {
  OpenRead& open = reads_[read.ticket];
  if (open.request) {
    std::copy_n(bytes, read.bytes, open.bytes.begin() + static_cast<std::ptrdiff_t>(read.at));
    part_is_there(read.ticket, now);
  }
}

void TargetUnit::part_is_there(std::uint32_t ticket, Time now) {
  OpenRead& open = reads_[ticket];
  if (--open.missing > 0) {
    return;
  }
  complete(open, now);
  if (!is_working_) {
    hooks_.answered_late(std::max(open.answer, now));
  }
  open.request.reset();
  free_reads_.push_back(ticket);
}

// Cut at RCB and MPS. [LNK-9.10]
void TargetUnit::complete(const OpenRead& read, Time now) {
  const Packet& request = *read.request;
  CompletionSplitter splitter(request.tlp, mps_, kCompleterRcb);
  const auto lead = static_cast<std::uint32_t>(__builtin_ctz(request.tlp.first_be | 0x10U)) % 4;
  CompletionPiece piece;
  while (splitter.next(piece)) {
    PacketRef packet = completion(request, CplStatus::kSC);
    packet->tlp.type = TlpType::kCplD;
    packet->tlp.length_dw = piece.length_dw;
    packet->tlp.byte_count = piece.byte_count;
    packet->tlp.lower_address = piece.lower_address;
    packet->payload_bytes = request.tlp.first_be == 0 ? 0 : piece.bytes;
    const std::uint8_t* const from = read.bytes.data() + ((lead + piece.offset) & ~3U);
    packet->payload.assign(from, from + std::size_t{piece.length_dw} * 4);
    answer(std::move(packet), std::max(read.answer, now));
  }
}

}  // namespace flitwise
