// SPDX-License-Identifier: Apache-2.0
// Memory requests to a device: BAR 0 of its functions.
#include "common/page.h"
#include "endpoint/target_unit.h"
#include "tlp/splitter.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kCompleterRcb = 128;  // of completers that are no root complex

std::uint8_t enables_of(const Tlp& tlp, unsigned dw) {
  const bool is_last = dw + 1U == tlp.length_dw && dw > 0;
  return dw == 0 ? tlp.first_be : is_last ? tlp.last_be : std::uint8_t{0xf};
}

bool is_handle_register(unsigned function, std::uint64_t offset) {
  return function == 0 && offset < handle_register::kBlockBytes;
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
  std::vector<std::uint8_t> bytes;
  std::uint64_t first = 0;
  for (unsigned dw = 0; dw < packet.tlp.length_dw; ++dw) {
    const std::uint64_t offset = place->offset + 4U * dw;
    const std::uint8_t enables = enables_of(packet.tlp, dw);
    std::uint32_t value = 0;
    for (unsigned byte = 0; byte < 4; ++byte) {
      const std::size_t at = 4U * dw + byte;
      if ((enables >> byte & 1U) == 0 || at >= packet.payload.size()) {
        continue;
      }
      value |= std::uint32_t{packet.payload[at]} << 8 * byte;
      if (!is_handle_register(place->function, offset)) {
        first = bytes.empty() ? offset + byte : first;
        bytes.push_back(packet.payload[at]);
        store(place->function, offset + byte, packet.payload[at]);
      }
    }
    if (is_handle_register(place->function, offset)) {
      write_handle_register(offset, value, enables);
    }
  }
  if (!bytes.empty()) {
    hooks_.bar_written(place->function, first, bytes);
  }
}

// A write of less than a DW leaves a handle register alone. [DHI D12]
void TargetUnit::write_handle_register(std::uint64_t offset, std::uint32_t value,
                                       std::uint8_t enables) {
  if (enables != 0xf) {
    return;
  }
  const std::optional<HandleCommand> command =
      handle_registers_.write(static_cast<std::uint32_t>(offset), value);
  if (command) {
    hooks_.handle_command(*command);
  }
}

std::uint64_t TargetUnit::encode(const ContextStop& order) {
  return ContextStop::kStop | std::uint64_t{order.function.value} << 32 |
         (order.pasid ? ContextStop::kHasPasid | to_int(*order.pasid) : 0);
}

std::optional<TargetUnit::ContextStop> TargetUnit::context_stop() const {
  const std::uint64_t low = read_dw({0, 0}, kContextStop);
  const std::uint64_t written = std::uint64_t{read_dw({0, 0}, kContextStop + 4)} << 32 | low;
  if ((written & ContextStop::kStop) == 0) {
    return std::nullopt;
  }
  constexpr std::uint64_t kPasidMask = (1U << kPasidBits) - 1;
  ContextStop order;
  order.function = Bdf{static_cast<std::uint16_t>(written >> 32)};
  if ((written & ContextStop::kHasPasid) != 0) {
    order.pasid = Pasid{static_cast<std::uint32_t>(written & kPasidMask)};
  }
  return order;
}

void TargetUnit::context_stopped() {
  for (unsigned byte = 0; byte < 8; ++byte) {
    store(0, kContextStop + byte, 0);
  }
}

// Doorbells are not kept: they read 0.
void TargetUnit::store(unsigned function, std::uint64_t offset, std::uint8_t byte) {
  if (is_doorbell(offset)) {
    return;
  }
  std::unique_ptr<Page>& page = pages_[function * (bar_size_ / kPageBytes) + offset / kPageBytes];
  if (page == nullptr) {
    page = std::make_unique<Page>();
    page->fill(0);
  }
  (*page)[offset % kPageBytes] = byte;
}

std::uint32_t TargetUnit::read_dw(const Place& place, std::uint64_t offset) const {
  if (is_handle_register(place.function, offset)) {
    return handle_registers_.read(static_cast<std::uint32_t>(offset));
  }
  const auto page = pages_.find(place.function * (bar_size_ / kPageBytes) + offset / kPageBytes);
  std::uint32_t value = 0;
  for (unsigned byte = 0; page != pages_.end() && byte < 4; ++byte) {
    value |= std::uint32_t{(*page->second)[offset % kPageBytes + byte]} << 8 * byte;
  }
  return value;
}

// The bytes as they are now, cut at RCB and MPS. [LNK-9.10]
void TargetUnit::memory_read(const Arrival& arrival, Time now) {
  const Packet& request = *arrival.packet;
  const std::optional<Place> place = locate(request.tlp);
  if (!place) {
    refuse(arrival, "unsupported_request", cfg::aer::Uncorrectable::kUnsupportedRequest, now);
    return;
  }
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
    const std::uint64_t from = place->offset + ((lead + piece.offset) & ~3U);
    for (unsigned dw = 0; dw < piece.length_dw; ++dw) {
      const std::uint32_t value = read_dw(*place, from + 4U * dw);
      for (unsigned byte = 0; byte < 4; ++byte) {
        packet->payload.push_back(static_cast<std::uint8_t>(value >> 8 * byte));
      }
    }
    answer(std::move(packet), arrival.answer);
  }
}

}  // namespace flitwise
