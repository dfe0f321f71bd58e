// SPDX-License-Identifier: Apache-2.0
// mmap of what the guest has named, with checks.
#include "uml/guest_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include "common/page.h"

namespace flitwise {

bool GuestMemory::add(const GuestRegion& region, OwnedFile file) {
  struct stat facts {};
  if (!file.is_open() || fstat(file.get(), &facts) != 0 || region.size == 0 ||
      region.size % kPageBytes != 0 || region.offset % kPageBytes != 0 ||
      region.address % kPageBytes != 0) {
    return false;
  }
  const auto length = static_cast<std::uint64_t>(facts.st_size);
  if (region.offset > length || region.size > length - region.offset ||
      region.address + region.size < region.address ||
      region.user_address + region.size < region.user_address) {
    return false;
  }
  void* const area = mmap(nullptr, region.size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(),
                          static_cast<off_t>(region.offset));
  if (area == MAP_FAILED) {
    return false;
  }
  regions_.push_back({region, std::move(file), static_cast<std::uint8_t*>(area)});
  return true;
}

void GuestMemory::clear() {
  for (const Mapped& one : regions_) {
    munmap(one.bytes, one.region.size);
  }
  regions_.clear();
}

std::uint8_t* GuestMemory::find(std::uint64_t address, std::uint64_t size,
                                std::uint64_t GuestRegion::*base) const {
  for (const Mapped& one : regions_) {
    const std::uint64_t start = one.region.*base;
    if (address >= start && size <= one.region.size && address - start <= one.region.size - size) {
      return one.bytes + (address - start);
    }
  }
  return nullptr;
}

}  // namespace flitwise
