// SPDX-License-Identifier: Apache-2.0
// Registers and memory in BAR 0.
#include "endpoint/device_registers.h"

#include <algorithm>
#include <cstring>

#include "common/byte_vector.h"
#include "endpoint/bar_access.h"

namespace flitwise {

DeviceRegisters::DeviceRegisters(unsigned functions, std::uint64_t bar_size, Hooks hooks)
    : functions_(functions), bar_size_(bar_size), hooks_(std::move(hooks)) {}

void DeviceRegisters::claim(BarMap& map) {
  map.claim({0, bar_size_ / 2, 0, functions_}, *this, kMemory);
  map.claim({0, handle_register::kBlockBytes, 0, 1}, *this, kHandleRegisters);
  map.claim({ContextStop::kOffset, context_stop_.size(), 0, 1}, *this, kContextStop);
}

void DeviceRegisters::mmio_write(const MmioPlace& place, const std::uint8_t* bytes,
                                 std::size_t size, Time /*now*/) {
  switch (place.region) {
    case kHandleRegisters: write_handle_registers(place.offset, bytes, size); break;
    case kContextStop:
      std::memcpy(context_stop_.data() + (place.offset - ContextStop::kOffset), bytes, size);
      hooks_.context_stop_written();
      break;
    default: store(place, bytes, size); break;
  }
}

// A write of less than a DW leaves a handle register alone. [DHI D12]
void DeviceRegisters::write_handle_registers(std::uint64_t offset, const std::uint8_t* bytes,
                                             std::size_t size) {
  for (std::size_t at = (4 - offset % 4) % 4; at + 4 <= size; at += 4) {
    const auto value = static_cast<std::uint32_t>(little_endian(bytes + at, 4));
    const std::optional<HandleCommand> command =
        handle_registers_.write(static_cast<std::uint32_t>(offset + at), value);
    if (command) {
      hooks_.handle_command(*command);
    }
  }
}

// `visit(page, offset in it, bytes, offset in the access)` for each page that an access touches.
template <class Visit>
void DeviceRegisters::for_each_page(const MmioPlace& place, std::size_t size, Visit visit) const {
  for (std::size_t at = 0; at < size;) {
    const std::uint64_t offset = place.offset + at;
    const std::size_t part = std::min<std::size_t>(size - at, kPageBytes - offset % kPageBytes);
    visit(place.function * (bar_size_ / kPageBytes) + offset / kPageBytes, offset % kPageBytes,
          part, at);
    at += part;
  }
}

void DeviceRegisters::store(const MmioPlace& place, const std::uint8_t* bytes, std::size_t size) {
  for_each_page(place, size,
                [&](PageNumber number, std::size_t to, std::size_t part, std::size_t at) {
                  std::memcpy(pages_[number].data() + to, bytes + at, part);
                });
}

void DeviceRegisters::load(const MmioPlace& place, std::uint8_t* bytes, std::size_t size) const {
  for_each_page(place, size,
                [&](PageNumber number, std::size_t from, std::size_t part, std::size_t at) {
                  const auto page = pages_.find(number);
                  if (page != pages_.end()) {
                    std::memcpy(bytes + at, page->second.data() + from, part);
                  }
                });
}

// REQUIRES: whole DWs of the handle registers.
void DeviceRegisters::mmio_read(const MmioRead& read, BarAccess& access, Time now) {
  std::array<std::uint8_t, 4096> bytes;  // one read asks for no more
  std::fill_n(bytes.begin(), read.bytes, std::uint8_t{0});
  switch (read.place.region) {
    case kHandleRegisters:
      for (std::size_t at = 0; at < read.bytes; ++at) {
        const auto offset = static_cast<std::uint32_t>(read.place.offset + at);
        bytes[at] =
            static_cast<std::uint8_t>(handle_registers_.read(offset & ~3U) >> 8 * (offset % 4));
      }
      break;
    case kContextStop:
      std::memcpy(bytes.data(), context_stop_.data() + (read.place.offset - ContextStop::kOffset),
                  read.bytes);
      break;
    default: load(read.place, bytes.data(), read.bytes); break;
  }
  access.answer(read, bytes.data(), now);
}

std::optional<ContextStop> DeviceRegisters::context_stop() const {
  const std::uint64_t written = little_endian(context_stop_.data(), context_stop_.size());
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

void DeviceRegisters::reset(unsigned function) {
  for (auto page = pages_.begin(); page != pages_.end();) {
    const bool is_concerned = function == 0 || page->first / (bar_size_ / kPageBytes) == function;
    page = is_concerned ? pages_.erase(page) : std::next(page);
  }
  if (function == 0) {
    handle_registers_ = HandleRegisters();
    context_stopped();
  }
}

}  // namespace flitwise
