// SPDX-License-Identifier: Apache-2.0
#include "endpoint/ring_engine.h"

#include <fmt/format.h>

#include <boost/endian/conversion.hpp>

#include <cstring>
#include <utility>

#include "common/byte_vector.h"
#include "endpoint/bar_access.h"

namespace flitwise {
namespace {

constexpr unsigned kVectors = 32;  // of the capability

CopyStatus status_of(TransferStatus status) {
  switch (status) {
    case TransferStatus::kDone: return CopyStatus::kDone;
    case TransferStatus::kTimeout: return CopyStatus::kTimeout;
    case TransferStatus::kPoisoned: return CopyStatus::kPoisoned;
    case TransferStatus::kUnsupportedRequest:
    case TransferStatus::kCompleterAbort:
    case TransferStatus::kContextEnded: break;
  }
  return CopyStatus::kRefused;
}

}  // namespace

RingEngine::RingEngine(const std::string& name, const DeviceConfig& device, Hooks hooks)
    : Bystander(name),
      hooks_(std::move(hooks)),
      memory_bytes_(device.ring.memory),
      table_area_{device.functions.bar_size / 4, kVectors * MsixTable::kEntryBytes, 0, 1},
      pending_area_{device.functions.bar_size * 3 / 8, 8, 0, 1},
      ring_(memory_bytes_, device.ring.prefetch),
      interrupts_(kVectors) {
  so_far_.device = before_.device = name;
}

void RingEngine::claim(BarMap& map) {
  map.claim({ring_register::kOffset, ring_register::kBytes, 0, 1}, *this, kRegisters);
  map.claim(table_area_, *this, kTable);
  map.claim(pending_area_, *this, kPending);
}

// A register takes whole DWs.
void RingEngine::mmio_write(const MmioPlace& place, const std::uint8_t* bytes, std::size_t size,
                            Time now) {
  if (place.region == kTable) {
    interrupts_.write(place.offset - table_area_.offset, bytes, size);
  } else if (place.region == kRegisters) {
    const auto offset = static_cast<std::uint32_t>(place.offset - ring_register::kOffset);
    for (std::size_t at = (4 - offset % 4) % 4; at + 4 <= size; at += 4) {
      const auto reg = offset + static_cast<std::uint32_t>(at);
      so_far_.doorbells += reg == ring_register::kTail ? 1 : 0;
      ring_.write(reg, static_cast<std::uint32_t>(little_endian(bytes + at, 4)), now);
    }
    if (ring_.is_running()) {
      memory_.resize(memory_bytes_);
    }
  }
  hooks_.work_appeared();
}

void RingEngine::mmio_read(const MmioRead& read, BarAccess& access, Time now) {
  std::vector<std::uint8_t> bytes(read.bytes);
  for (std::size_t at = 0; at < read.bytes; ++at) {
    const std::uint64_t offset = read.place.offset + at;
    switch (read.place.region) {
      case kTable: bytes[at] = *interrupts_.at(offset - table_area_.offset); break;
      case kPending:
        bytes[at] =
            static_cast<std::uint8_t>(interrupts_.pending() >> 8 * (offset - pending_area_.offset));
        break;
      default: {
        const auto reg = static_cast<std::uint32_t>(offset - ring_register::kOffset);
        bytes[at] = static_cast<std::uint8_t>(ring_.read(reg & ~3U) >> 8 * (reg % 4));
        break;
      }
    }
  }
  access.answer(read, bytes.data(), now);
}

// An interrupt comes behind what it tells of, and a write-back behind the data: none of them is
// given out before the one in front of it, and they keep their order. [LNK-9.1]
bool RingEngine::next(Time now, Transfer& transfer) {
  if (!next_interrupt(transfer) && !next_write_back(transfer) && !next_fetch(transfer) &&
      !next_copy(transfer)) {
    return false;
  }
  transfer.issue = transfer.ready = now;
  transfer.counts = true;
  transfer.keeps_order = true;
  ++under_way_;
  return true;
}

bool RingEngine::next_interrupt(Transfer& transfer) {
  const MsixControl control = hooks_.msix_control();
  const bool may_go = control.is_enabled && !control.is_masked;
  const std::optional<MsixTable::Message> message =
      may_go ? interrupts_.next() : std::optional<MsixTable::Message>();
  if (!message) {
    return false;
  }
  interrupts_.sent(*message);
  ++so_far_.interrupts;
  boost::endian::store_little_u32(message_.data(), message->data);
  transfer.op = Op::kMsi;
  transfer.address = message->address;
  transfer.bytes = 4;
  transfer.data = message_.data();
  transfer.token = token(kInterrupt);
  return true;
}

bool RingEngine::next_write_back(Transfer& transfer) {
  const std::optional<DescriptorRing::WriteBack> next = ring_.next_write_back();
  if (!next) {
    return false;
  }
  ring_.begin_write_back();
  if (next->interrupts && hooks_.msix_control().is_enabled) {
    interrupts_.raise(ring_.vector());
  }
  ++so_far_.descriptors;
  so_far_.failed += next->status == CopyStatus::kDone ? 0 : 1;
  transfer.op = Op::kWrite;
  transfer.address = next->address;
  transfer.bytes = RingDescriptor::kWrittenBackBytes;
  transfer.data = next->bytes;
  transfer.token = token(kWriteBack);
  return true;
}

bool RingEngine::next_fetch(Transfer& transfer) {
  const std::optional<DescriptorRing::Fetch> next = ring_.next_fetch();
  if (!next) {
    return false;
  }
  ring_.begin_fetch();
  ++so_far_.fetches;
  transfer.op = Op::kRead;
  transfer.address = next->address;
  transfer.bytes = next->count * static_cast<std::uint32_t>(RingDescriptor::kBytes);
  transfer.token = token(kFetch);
  return true;
}

bool RingEngine::next_copy(Transfer& transfer) {
  const std::optional<std::uint32_t> slot = ring_.next_copy();
  if (!slot) {
    return false;
  }
  ring_.begin_copy();
  const RingDescriptor& copy = ring_.descriptor(*slot);
  transfer.op = copy.is_to_device() ? Op::kRead : Op::kWrite;
  transfer.address = copy.host;
  transfer.bytes = copy.bytes;
  transfer.data = copy.is_to_device() ? nullptr : memory_.data() + copy.device;
  transfer.token = token(*slot);
  return true;
}

void RingEngine::data(std::uint32_t token, std::uint64_t offset, const std::uint8_t* bytes,
                      std::size_t size) {
  if (!is_current(token)) {
    return;
  }
  const std::uint32_t what = token & 0xffU;
  std::uint8_t* const to =
      what == kFetch ? fetched_.data() : memory_.data() + ring_.descriptor(what).device;
  std::memcpy(to + offset, bytes, size);
}

void RingEngine::finished(const TransferEnd& end) {
  --under_way_;
  if (!is_current(end.token)) {
    return;
  }
  const std::uint32_t what = end.token & 0xffU;
  if (what == kWriteBack) {
    ring_.written_back();
  } else if (what == kFetch && end.status == TransferStatus::kDone) {
    ring_.fetched(fetched_.data(), end.when);
  } else if (what == kFetch) {
    ++so_far_.failed_fetches;
    ring_.fetch_failed();
  } else if (what < DescriptorRing::kSlots) {
    const RingDescriptor& copy = ring_.descriptor(what);
    if (end.status == TransferStatus::kDone) {
      (copy.is_to_device() ? so_far_.bytes_to_device : so_far_.bytes_from_device) += copy.bytes;
    }
    ring_.copied(what, status_of(end.status), end.when);
  }
}

void RingEngine::reset() {
  ring_.reset();
  interrupts_.reset();
}

std::string RingEngine::waits_for() const {
  return is_done() ? ""
                   : fmt::format("{} descriptors of the ring are held, {} transfers are under way",
                                 ring_.held(), under_way_);
}

void RingEngine::report(RunResult& result) const {
  result.rows<RingResult>().push_back(so_far_ - before_);
}

Component::Counts RingEngine::errors() const {
  Counts counts;
  const auto count = [&counts](const char* kind, std::uint64_t number) {
    if (number > 0) {
      counts[kind] = number;
    }
  };
  count("descriptor_failed", so_far_.failed);
  count("descriptor_fetch_failed", so_far_.failed_fetches);
  return counts;
}

}  // namespace flitwise
