// SPDX-License-Identifier: Apache-2.0
#include "pio/sdma_ring.h"

#include <fmt/format.h>
#include <boost/endian/conversion.hpp>

#include <algorithm>

#include "common/ranges.h"

namespace flitwise {
namespace {

constexpr const char* kSdmaErrorNames[] = {
    "bad_tail",   "wrong_generation", "first_or_last", "too_many_fragments",
    "bad_length", "length_mismatch",  "read_failed"};

unsigned blocks_of_bytes(unsigned bytes) {
  return (bytes + kSendBlockBytes - 1) / kSendBlockBytes;
}

}  // namespace

const char* name_of(SdmaError error) {
  return name_in(kSdmaErrorNames, error);
}

std::string SdmaRing::setup_flaw(const SdmaSetup& setup) {
  if (setup.entries == 0 || setup.entries > kMostEntries ||
      setup.entries % kDescriptorsPerRead != 0) {
    return fmt::format("{} entries seen; expected a multiple of {} up to {}", setup.entries,
                       kDescriptorsPerRead, kMostEntries);
  }
  if (setup.base % kSendBlockBytes != 0 || setup.head_address % kQwBytes != 0) {
    return fmt::format("ring at {:#x} and head at {:#x} seen; expected multiples of {} and {}",
                       setup.base, setup.head_address, kSendBlockBytes, kQwBytes);
  }
  if (setup.base > ~std::uint64_t{0} - std::uint64_t{setup.entries} * kSdmaDescriptorBytes) {
    return fmt::format("a ring of {} entries at {:#x} seen; expected one that ends within 64 bits",
                       setup.entries, setup.base);
  }
  if (setup.buffer_blocks == 0 || setup.buffer_blocks > kMostBufferBlocks) {
    return fmt::format("a buffer of {} blocks seen; expected 1 to {}", setup.buffer_blocks,
                       kMostBufferBlocks);
  }
  if (setup.reads == 0 || setup.reads > kMostReads) {
    return fmt::format("{} reads outstanding seen; expected 1 to {}", setup.reads, kMostReads);
  }
  return "";
}

void SdmaRing::set_up(const SdmaSetup& setup) {
  setup_ = setup;
  packets_.resize(setup.buffer_blocks);
  buffer_.resize(std::size_t{setup.buffer_blocks} * kSendBlockBytes);
  restart();
}

void SdmaRing::restart() {
  begin_life();
  tail_ = fetched_ = begun_ = done_ = 0;
  filled_ = freed_ = first_packet_ = taken_ = packets_end_ = 0;
  errors_ = 0;
  is_enabled_ = true;
}

void SdmaRing::disable() {
  begin_life();
  is_enabled_ = false;
}

// What is in flight belongs to the life before. [PIO-6.16]
void SdmaRing::begin_life() {
  ++life_;
  reads_.fill({});
  here_ = 0;
  reads_outstanding_ = 0;
  owes_head_ = owes_interrupt_ = false;
}

// An index, not a count: it says how far behind the last one it is, and the head is never reached
// from behind. [PIO-6.10]
void SdmaRing::write_tail(std::uint64_t index) {
  if (!is_running()) {
    return;
  }
  const std::uint64_t entries = setup_->entries;
  const std::uint64_t more = (index + entries - tail_ % entries) % entries;
  if (index >= entries || waiting() + more >= entries) {
    halt(SdmaError::kBadTail);
    return;
  }
  tail_ += more;
}

// Fragments of descriptors that are here go before more descriptors. A descriptor that is found
// wrong halts the engine. [PIO-6.12]
std::optional<SdmaRead> SdmaRing::next_read() {
  if (!is_running() || reads_outstanding_ == setup_->reads) {
    return std::nullopt;
  }
  if (const SdmaDescriptor* const descriptor = next_descriptor()) {
    if (const std::optional<SdmaError> flaw = flaw_of(*descriptor)) {
      halt(*flaw);
      return std::nullopt;
    }
    if (has_room(*descriptor)) {
      return read_fragment(*descriptor);
    }
  }
  if (!has_line()) {
    return std::nullopt;
  }
  Read read;
  read.address = setup_->base + fetched_ % setup_->entries * kSdmaDescriptorBytes;
  read.place = fetched_;
  read.bytes = static_cast<unsigned>(line_end() - fetched_) * kSdmaDescriptorBytes;
  fetched_ = line_end();
  return issue(read);
}

// Where the next read of descriptors ends: with a line of 64 bytes, what software has written, or
// the window.
std::uint64_t SdmaRing::line_end() const {
  const std::uint64_t end = (fetched_ / kDescriptorsPerRead + 1) * kDescriptorsPerRead;
  return std::min({tail_, begun_ + kWindow, end});
}

bool SdmaRing::may_read_data() const {
  const SdmaDescriptor* const descriptor = next_descriptor();
  return descriptor != nullptr && !flaw_of(*descriptor) && has_room(*descriptor);
}

const SdmaDescriptor* SdmaRing::next_descriptor() const {
  const bool is_here = begun_ < fetched_ && (here_ >> begun_ % kWindow & 1U) != 0;
  return is_here ? &window_[begun_ % kWindow] : nullptr;
}

bool SdmaRing::is_within_packet() const {
  return packets_end_ > first_packet_ && !packet_at(packets_end_ - 1).is_closed;
}

std::optional<SdmaError> SdmaRing::flaw_of(const SdmaDescriptor& descriptor) const {
  const bool is_within = is_within_packet();
  const Packet packet = is_within ? packet_at(packets_end_ - 1) : Packet{};
  const unsigned bytes = packet.bytes + descriptor.bytes;
  if (descriptor.generation != begun_ / setup_->entries % kSdmaGenerations) {
    return SdmaError::kWrongGeneration;
  }
  if (descriptor.is_first == is_within) {
    return SdmaError::kFirstOrLast;
  }
  if (packet.fragments == kMostSdmaFragments) {
    return SdmaError::kTooManyFragments;
  }
  if (descriptor.bytes == 0 || bytes > kMostSdmaPacketBytes || bytes > buffer_.size()) {
    return SdmaError::kBadLength;
  }
  return std::nullopt;
}

bool SdmaRing::has_room(const SdmaDescriptor& descriptor) const {
  const bool is_within = is_within_packet();
  const std::uint64_t first = is_within ? packet_at(packets_end_ - 1).first_block : filled_;
  const unsigned bytes = (is_within ? packet_at(packets_end_ - 1).bytes : 0U) + descriptor.bytes;
  return first + blocks_of_bytes(bytes) - freed_ <= setup_->buffer_blocks;
}

bool SdmaRing::waits_for_room() const {
  const SdmaDescriptor* const descriptor = is_running() ? next_descriptor() : nullptr;
  return descriptor != nullptr && !flaw_of(*descriptor) && !has_room(*descriptor);
}

SdmaRead SdmaRing::read_fragment(const SdmaDescriptor& descriptor) {
  if (!is_within_packet()) {
    packet_at(packets_end_) = {};
    packet_at(packets_end_).first_block = filled_;
    ++packets_end_;
  }
  Packet& packet = packet_at(packets_end_ - 1);
  Read read;
  read.is_fragment = true;
  read.address = descriptor.address;
  read.bytes = descriptor.bytes;
  read.packet = packets_end_ - 1;
  read.place = packet.first_block * kSendBlockBytes + packet.bytes;
  packet.bytes += descriptor.bytes;
  packet.missing += descriptor.bytes;
  ++packet.fragments;
  packet.is_closed = descriptor.is_last;
  packet.asks_for_head |= descriptor.asks_for_head;
  packet.interrupts |= descriptor.interrupts;
  filled_ = packet.first_block + blocks_of_bytes(packet.bytes);
  here_ &= ~(std::uint64_t{1} << begun_ % kWindow);
  packet.end = ++begun_;
  return issue(read);
}

// REQUIRES: fewer than kMostReads are outstanding.
SdmaRead SdmaRing::issue(const Read& read) {
  Read* const slot = find_where(reads_, [](const Read& one) { return !one.is_used; });
  *slot = read;
  slot->is_used = true;
  ++reads_outstanding_;
  const std::uint64_t number = static_cast<std::uint64_t>(slot - reads_.data());
  return {std::uint64_t{life_} * kMostReads + number, read.address, read.bytes};
}

SdmaRing::Read* SdmaRing::read_of(std::uint64_t tag) {
  Read& read = reads_[tag % kMostReads];
  return tag / kMostReads == life_ && read.is_used ? &read : nullptr;
}

void SdmaRing::put(std::uint64_t tag, std::uint64_t offset, const std::uint8_t* data,
                   std::size_t bytes) {
  Read* const read = read_of(tag);
  if (read == nullptr || offset >= read->bytes) {
    return;
  }
  bytes = std::min<std::size_t>(bytes, read->bytes - offset);
  if (!read->is_fragment) {
    std::copy_n(data, bytes, read->line.begin() + static_cast<std::ptrdiff_t>(offset));
    return;
  }
  const std::size_t begin = (read->place + offset) % buffer_.size();
  const std::size_t first = std::min<std::size_t>(bytes, buffer_.size() - begin);
  std::copy_n(data, first, buffer_.data() + begin);
  std::copy_n(data + first, bytes - first, buffer_.data());
}

void SdmaRing::finish(std::uint64_t tag) {
  Read* const read = read_of(tag);
  if (read == nullptr) {
    return;
  }
  read->is_used = false;
  --reads_outstanding_;
  if (read->is_fragment) {
    packet_at(read->packet).missing -= read->bytes;
    return;
  }
  for (unsigned i = 0; i < read->bytes / kSdmaDescriptorBytes; ++i) {
    const std::uint64_t place = (read->place + i) % kWindow;
    window_[place] =
        decode_sdma_descriptor(read->line.data() + std::size_t{i} * kSdmaDescriptorBytes);
    here_ |= std::uint64_t{1} << place;
  }
}

void SdmaRing::take(std::uint64_t tag, const std::uint8_t* data) {
  if (const Read* const read = read_of(tag)) {
    put(tag, 0, data, read->bytes);
    finish(tag);
  }
}

void SdmaRing::fail(std::uint64_t tag) {
  if (Read* const read = read_of(tag)) {
    read->is_used = false;
    --reads_outstanding_;
    halt(SdmaError::kReadFailed);
  }
}

// The length is judged once the PBC and all fragments are here. [PIO-6.13, 6.14]
std::optional<SdmaPacket> SdmaRing::take_packet(std::uint64_t place) {
  if (!is_running() || taken_ == packets_end_) {
    return std::nullopt;
  }
  Packet& packet = packet_at(taken_);
  if (!packet.is_closed || packet.missing != 0) {
    return std::nullopt;
  }
  const Pbc pbc = packet.bytes < kQwBytes ? Pbc{} : pbc_of(packet);
  if (packet.bytes < kQwBytes || packet.bytes != 4U * pbc.length_dws) {
    halt(SdmaError::kLengthMismatch);
    return std::nullopt;
  }
  packet.place = place;
  ++taken_;
  return SdmaPacket{static_cast<std::uint16_t>(pbc.blocks()), pbc.vl};
}

// Packets leave in any order of VLs; blocks and descriptors are done in order. [PIO-6.14]
void SdmaRing::clear(std::uint64_t place) {
  packet_at(packet_of(place)).is_cleared = true;
  for (; first_packet_ < taken_ && packet_at(first_packet_).is_cleared; ++first_packet_) {
    const Packet& packet = packet_at(first_packet_);
    done_ = packet.end;
    freed_ = packet.first_block + blocks_of_bytes(packet.bytes);
    owes_head_ |= packet.asks_for_head;
    owes_interrupt_ |= packet.interrupts;
  }
}

std::optional<SdmaHeadWrite> SdmaRing::take_head_write() {
  if (!owes_head_) {
    return std::nullopt;
  }
  const SdmaHeadWrite write{setup_->head_address, head(), owes_interrupt_};
  owes_head_ = owes_interrupt_ = false;
  return write;
}

// Places rise from packet to packet.
std::uint64_t SdmaRing::packet_of(std::uint64_t place) const {
  std::uint64_t low = first_packet_, high = taken_;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (packet_at(middle).place <= place ? low : high) = middle;
  }
  return low;
}

Pbc SdmaRing::pbc_of(const Packet& packet) const {
  return decode_pbc(boost::endian::load_little_u64(block_at(packet.first_block)));
}

Pbc SdmaRing::pbc_of(std::uint64_t place) const {
  return pbc_of(packet_at(packet_of(place)));
}

std::vector<std::uint8_t> SdmaRing::bytes_of(std::uint64_t place) const {
  const Packet& packet = packet_at(packet_of(place));
  std::vector<std::uint8_t> bytes;
  for (unsigned byte = kQwBytes; byte < packet.bytes; ++byte) {
    bytes.push_back(block_at(packet.first_block + byte / kSendBlockBytes)[byte % kSendBlockBytes]);
  }
  return bytes;
}

}  // namespace flitwise
