// SPDX-License-Identifier: Apache-2.0
// Memory requests to BAR 0.
#include "endpoint/bar_access.h"

#include <algorithm>

namespace flitwise {
namespace {

bool is_enabled(const Tlp& tlp, std::size_t byte) {
  const std::size_t dw = byte / 4;
  const bool is_last = dw + 1U == tlp.length_dw && dw > 0;
  const unsigned enables = dw == 0 ? tlp.first_be : is_last ? tlp.last_be : 0xfU;
  return (enables >> byte % 4 & 1U) != 0;
}

}  // namespace

std::optional<BarAccess::Place> BarAccess::place_of(std::uint64_t address) const {
  if (pf_bar_.contains(address)) {
    return Place{0, address - pf_bar_.base};
  }
  if (vf_bar_.contains(address)) {
    const std::uint64_t offset = address - vf_bar_.base;
    return Place{static_cast<unsigned>(offset / bar_size_) + 1, offset % bar_size_};
  }
  return std::nullopt;
}

std::optional<BarAccess::Place> BarAccess::place_of(const Tlp& request) const {
  const std::optional<Place> place = place_of(request.address);
  const bool has_all = place && place->offset + request.length_dw * 4U <= bar_size_;
  return has_all ? place : std::nullopt;
}

void BarAccess::write(Place place, const Packet& request, Time now) {
  const Tlp& tlp = request.tlp;
  const std::size_t size = std::min<std::size_t>(tlp.length_dw * 4U, request.payload.size());
  if (tlp.first_be == 0xf && (tlp.length_dw == 1 || tlp.last_be == 0xf)) {
    write_bytes(place, request.payload.data(), size, now);
    return;
  }
  for (std::size_t at = 0; at < size;) {
    std::size_t end = at;
    while (end < size && is_enabled(tlp, end)) {
      ++end;
    }
    write_bytes({place.function, place.offset + at}, request.payload.data() + at, end - at, now);
    at = end + 1;
  }
}

// Bytes in a row, to each owner its own.
void BarAccess::write_bytes(Place place, const std::uint8_t* bytes, std::size_t size, Time now) {
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

void BarAccess::read(Place place, PacketRef request, Time earliest, Time now) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(reads_.size()));
    reads_.emplace_back();
  }
  const std::uint32_t ticket = free_.back();
  free_.pop_back();
  const std::size_t size = request->tlp.length_dw * std::size_t{4};
  reads_[ticket].request = std::move(request);
  reads_[ticket].earliest = earliest;
  reads_[ticket].missing = 1;
  reads_[ticket].bytes.assign(size, 0);
  for (std::size_t at = 0; at < size;) {
    const std::uint64_t offset = place.offset + at;
    const BarMap::Part part = map_.part_at(place.function, offset);
    const auto own = std::min<std::uint64_t>(size - at, part.end - offset);
    if (part.owner != nullptr) {
      ++reads_[ticket].missing;
      part.owner->mmio_read({{part.region, place.function, offset}, own, ticket, at}, *this, now);
    }
    at += own;
  }
  part_is_there(ticket, now);
}

void BarAccess::answer(const MmioRead& read, const std::uint8_t* bytes, Time now) {
  OpenRead& open = reads_[read.ticket];
  if (open.request) {
    std::copy_n(bytes, read.bytes, open.bytes.begin() + static_cast<std::ptrdiff_t>(read.at));
    part_is_there(read.ticket, now);
  }
}

void BarAccess::part_is_there(std::uint32_t ticket, Time now) {
  OpenRead& open = reads_[ticket];
  if (--open.missing > 0) {
    return;
  }
  complete_(*open.request, open.bytes, std::max(open.earliest, now));
  open.request.reset();
  free_.push_back(ticket);
}

void BarAccess::discard() {
  for (std::uint32_t ticket = 0; ticket < reads_.size(); ++ticket) {
    if (reads_[ticket].request) {
      reads_[ticket].request.reset();
      free_.push_back(ticket);
    }
  }
}

}  // namespace flitwise
