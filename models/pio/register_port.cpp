// SPDX-License-Identifier: Apache-2.0
#include "pio/register_port.h"

#include <boost/endian/conversion.hpp>

#include <vector>

namespace flitwise {

void RegisterPort::read(const MmioRead& read, std::uint64_t base, BarAccess& access, Time now) {
  reads_.add({read, static_cast<std::uint32_t>(read.place.offset - base), &access},
             now + crossing_);
}

void RegisterPort::work(Time now) {
  while (reads_.is_due(now)) {
    const Read one = reads_.take();
    const auto value = registers_.read(one.offset, one.read.bytes);
    refused_ += value ? 0 : 1;
    answers_.add({one.read, one.access, value.value_or(0), !value}, now + crossing_);
  }
  while (answers_.is_due(now)) {
    const Answer one = answers_.take();
    std::vector<std::uint8_t> bytes(one.read.bytes, 0xff);
    if (!one.is_refused) {
      boost::endian::store_little_u64(bytes.data(), one.value);
    }
    one.access->answer(one.read, bytes.data(), now);
  }
}

void RegisterPort::forget(Time now) {
  const auto refuse = [now](const MmioRead& read, BarAccess& access) {
    access.answer(read, std::vector<std::uint8_t>(read.bytes, 0xff).data(), now);
  };
  while (!answers_.empty()) {
    const Answer one = answers_.take();
    refuse(one.read, *one.access);
  }
  while (!reads_.empty()) {
    const Read one = reads_.take();
    refuse(one.read, *one.access);
  }
}

}  // namespace flitwise
