// SPDX-License-Identifier: Apache-2.0
#include "rdma/rdma_end.h"

#include <algorithm>

#include "flitwise/error.h"

namespace flitwise {
namespace {

// Atomics are little-endian in host memory. [RDM-6]
std::uint64_t load_word(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
  for (unsigned i = 0; i < 8; ++i) {
    word |= std::uint64_t{bytes[i]} << 8 * i;
  }
  return word;
}

}  // namespace

RdmaEnd::RdmaEnd(const RdmaEndSetup& setup)
    : keys_(setup.regions),
      completions_(setup.completion_depth),
      buffers_(setup.receive_depth),
      pair_(setup.pair, keys_, completions_, completions_, buffers_, setup.shares_buffers),
      memory_(setup.memory_bytes) {}

std::optional<std::uint32_t> RdmaEnd::add_region(const MemoryRegion& region) {
  const bool is_in_memory =
      region.bytes <= memory_.size() && region.base <= memory_.size() - region.bytes;
  return is_in_memory ? keys_.add(region) : std::nullopt;
}

bool RdmaEnd::next(RdmaWirePacket& packet, Time now) {
  packet.bytes.clear();
  if (!pair_.next(packet.fields, now)) {
    return false;
  }
  for (const Sge& piece : packet.fields.payload) {
    const auto first = memory_.begin() + static_cast<std::ptrdiff_t>(piece.address);
    packet.bytes.insert(packet.bytes.end(), first, first + piece.bytes);
  }
  return true;
}

bool RdmaEnd::receive(const RdmaWirePacket& packet, Time now) {
  RdmaEffect effect = pair_.receive(packet.fields, now);
  carry_out(effect, packet.fields, packet.bytes);
  const bool is_notification = effect.kind == RdmaEffect::Kind::kSlowDown;
  for (RdmaPacket fields; pair_.release(fields, effect, now);) {
    carry_out(effect, fields, kept(fields.psn));
  }
  return !is_notification;
}

// Packets that wait are within one window.
std::vector<std::uint8_t>& RdmaEnd::kept(Psn psn) {
  std::size_t places = 1;
  while (places <= pair_.setup().reorder_window) {
    places *= 2;
  }
  kept_.resize(places);
  return kept_[psn & (places - 1)];
}

void RdmaEnd::carry_out(const RdmaEffect& effect, const RdmaPacket& fields,
                        const std::vector<std::uint8_t>& bytes) {
  if (effect.kind == RdmaEffect::Kind::kNone || effect.kind == RdmaEffect::Kind::kSlowDown) {
    return;
  }
  if (effect.kind == RdmaEffect::Kind::kHold) {
    kept(fields.psn) = bytes;
    return;
  }
  std::array<std::uint8_t, 8> word{};
  const std::uint8_t* from = bytes.data();
  std::uint64_t value = fields.original;
  if (effect.kind == RdmaEffect::Kind::kAtomic) {
    const std::uint64_t original = load_word(&memory_[effect.view.pieces[0].address]);
    pair_.finish_atomic(original);
    value = atomic_result(fields, original);
  }
  if (effect.kind != RdmaEffect::Kind::kPayload) {
    for (unsigned i = 0; i < word.size(); ++i) {
      word[i] = static_cast<std::uint8_t>(value >> 8 * i);
    }
    from = word.data();
  }
  for (const Sge& piece : effect.view) {
    if (piece.bytes > 0) {
      FLITWISE_CHECK(piece.address + piece.bytes <= memory_.size(),
                     "a key lets bytes out of memory");
      std::copy_n(from, piece.bytes, memory_.begin() + static_cast<std::ptrdiff_t>(piece.address));
      from += piece.bytes;
    }
  }
}

}  // namespace flitwise
