// SPDX-License-Identifier: Apache-2.0
// Fields of each type of descriptor.
#include "iommu/descriptor_encoding.h"

#include "common/page.h"
#include "iommu/entries.h"
#include "iommu/word_bits.h"

namespace flitwise {
namespace {

std::uint64_t placed(std::uint64_t value, unsigned position) {
  return value << position;
}
std::uint64_t pasid_field(Pasid pasid) {
  return placed(to_int(pasid), 32);
}
/// PFSID: its low four bits apart from the others.
std::uint64_t physical_function_field(std::uint16_t function) {
  return placed(function & 0xfU, 12) | placed(function >> 4U, 52);
}

DescriptorBytes of_words(std::uint64_t low, std::uint64_t high) {
  DescriptorBytes bytes{};
  store_u64(bytes.data(), low);
  store_u64(bytes.data() + 8, high);
  return bytes;
}

template <class Invalidation>
std::uint64_t pages_of(const Invalidation& command) {
  return (command.address & kPageAddress) | bit_if(command.leaf_only, 6) | command.address_mask;
}

}  // namespace

DescriptorBytes encode(const IotlbInvalidation& command) {
  return of_words(2U | placed(static_cast<unsigned>(command.granularity), 4) |
                      bit_if(command.drains_writes, 6) | bit_if(command.drains_reads, 7) |
                      placed(command.domain, 16),
                  pages_of(command));
}

DescriptorBytes encode(const DeviceTlbInvalidation& command) {
  const std::uint64_t address = command.address & kPageAddress;
  const std::uint64_t physical = physical_function_field(command.physical_function);
  if (command.pasid) {
    return of_words(8U | placed(command.queue_depth, 4) | placed(command.source.value, 16) |
                        pasid_field(*command.pasid) | physical,
                    address | bit_if(command.is_sized, 11) | bit_if(command.all_pasids, 0));
  }
  return of_words(
      3U | placed(command.queue_depth, 16) | placed(command.source.value, 32) | physical,
      address | bit_if(command.is_sized, 0));
}

DescriptorBytes encode(const InvalidationWait& command) {
  return of_words(5U | bit_if(command.interrupts, 4) | bit_if(command.writes_status, 5) |
                      bit_if(command.is_fence, 6) | bit_if(command.drains_page_requests, 7) |
                      placed(command.status, 32),
                  command.status_address);
}

DescriptorBytes encode(const PasidIotlbInvalidation& command) {
  return of_words(6U | placed(static_cast<unsigned>(command.granularity), 4) |
                      placed(command.domain, 16) | pasid_field(command.pasid),
                  pages_of(command));
}

DescriptorBytes encode(const PasidCacheInvalidation& command) {
  return of_words(7U | placed(static_cast<unsigned>(command.granularity), 4) |
                      placed(command.domain, 16) | pasid_field(command.pasid),
                  0);
}

DescriptorBytes encode(const PermissionInvalidation& command) {
  constexpr std::uint64_t kType =
      (kPermissionInvalidationType & 0xfU) | std::uint64_t{kPermissionInvalidationType >> 4U} << 9;
  return of_words(kType | placed(static_cast<unsigned>(command.granularity), 4) |
                      bit_if(command.all_domains, 6) | placed(command.domain, 16),
                  (command.address & kPageAddress) | command.address_mask);
}

DescriptorBytes encode(const PageGroupResponse& command) {
  return of_words(9U | bit_if(command.pasid.has_value(), 4) | placed(command.code, 12) |
                      placed(command.source.value, 16) |
                      pasid_field(command.pasid.value_or(Pasid{})),
                  placed(command.group, 3));
}

}  // namespace flitwise
