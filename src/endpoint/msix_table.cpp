// SPDX-License-Identifier: Apache-2.0
#include "endpoint/msix_table.h"

#include <algorithm>
#include <cstring>

#include "common/byte_vector.h"

namespace flitwise {
namespace {

constexpr std::size_t kData = 8, kControl = 12;
constexpr std::uint8_t kMask = 1;

}  // namespace

void MsixTable::write(std::size_t offset, const std::uint8_t* bytes, std::size_t size) {
  std::memcpy(table_.data() + offset, bytes, size);
  // Reserved bits stay 0.
  for (std::size_t at = offset; at < offset + size; ++at) {
    const std::size_t place = at % kEntryBytes;
    if (place == 0) {
      table_[at] &= 0xfcU;
    } else if (place >= kControl) {
      table_[at] &= place == kControl ? kMask : 0U;
    }
  }
}

void MsixTable::raise(unsigned vector) {
  if (vector < vectors_) {
    pending_ |= std::uint64_t{1} << vector;
  }
}

std::optional<MsixTable::Message> MsixTable::next() const {
  for (unsigned vector = 0; vector < vectors_; ++vector) {
    const std::uint8_t* const entry = at(vector * kEntryBytes);
    if ((pending_ >> vector & 1U) != 0 && (entry[kControl] & kMask) == 0) {
      return Message{vector, little_endian(entry, 8),
                     static_cast<std::uint32_t>(little_endian(entry + kData, 4))};
    }
  }
  return std::nullopt;
}

void MsixTable::reset() {
  pending_ = 0;
  table_.assign(vectors_ * kEntryBytes, 0);
  for (std::size_t entry = 0; entry < table_.size(); entry += kEntryBytes) {
    table_[entry + kControl] = kMask;
  }
}

}  // namespace flitwise
