// SPDX-License-Identifier: Apache-2.0
// Fields and reserved bits of each type of descriptor.
#include "iommu/invalidation_descriptor.h"

#include "common/ranges.h"
#include "iommu/entries.h"
#include "iommu/word_fields.h"

namespace flitwise {

namespace {

constexpr std::uint64_t kTypeBits = 0xe0f;  // 3:0 and 11:9

/// Bits 63:12 of the second word.
template <class C>
constexpr WordField<C> kAddressOfPage{1, 12, 52, kBitsAbove<C, &C::address, 12>};

/// PFSID: its low four bits apart from the others.
template <unsigned kLow, unsigned kMask>
constexpr FieldAccess<DeviceTlbInvalidation> kFunctionPart{
    [](const DeviceTlbInvalidation& from) {
      return std::uint64_t{from.physical_function} >> kLow & kMask;
    },
    [](DeviceTlbInvalidation& to, std::uint64_t value) {
      to.physical_function = static_cast<std::uint16_t>(to.physical_function | value << kLow);
    }};

// Without the type. What no field has is reserved. [IQU-02]
using Context = ContextCacheInvalidation;
constexpr WordField<Context> kContextFields[] = {
    {0, 4, 2, field_access<&Context::granularity>},
    {0, 16, 16, field_access<&Context::domain>},
    {0, 32, 16, field_access<&Context::source>},
    {0, 48, 2, field_access<&Context::function_mask>},
};
using Iotlb = IotlbInvalidation;
constexpr WordField<Iotlb> kIotlbFields[] = {
    {0, 4, 2, field_access<&Iotlb::granularity>},
    {0, 6, 1, field_access<&Iotlb::drains_writes>},
    {0, 7, 1, field_access<&Iotlb::drains_reads>},
    {0, 16, 16, field_access<&Iotlb::domain>},
    {1, 0, 6, field_access<&Iotlb::address_mask>},
    {1, 6, 1, field_access<&Iotlb::leaf_only>},
    kAddressOfPage<Iotlb>,
};
using DeviceTlb = DeviceTlbInvalidation;
constexpr WordField<DeviceTlb> kDeviceTlbFields[] = {
    {0, 12, 4, kFunctionPart<0, 0xf>},
    {0, 16, 5, field_access<&DeviceTlb::queue_depth>},
    {0, 32, 16, field_access<&DeviceTlb::source>},
    {0, 52, 12, kFunctionPart<4, 0xfff>},
    {1, 0, 1, field_access<&DeviceTlb::is_sized>},
    kAddressOfPage<DeviceTlb>,
};
constexpr WordField<InterruptCacheInvalidation> kInterruptCacheFields[] = {
    {0, 4, 1}, {0, 27, 5}, {0, 32, 16}};
using Wait = InvalidationWait;
constexpr WordField<Wait> kWaitFields[] = {
    {0, 4, 1, field_access<&Wait::interrupts>},
    {0, 5, 1, field_access<&Wait::writes_status>},
    {0, 6, 1, field_access<&Wait::is_fence>},
    {0, 7, 1, field_access<&Wait::drains_page_requests>},
    {0, 32, 32, field_access<&Wait::status>},
    {1, 2, 62, kBitsAbove<Wait, &Wait::status_address, 2>},
};
using PasidIotlb = PasidIotlbInvalidation;
constexpr WordField<PasidIotlb> kPasidIotlbFields[] = {
    {0, 4, 2, field_access<&PasidIotlb::granularity>},
    {0, 16, 16, field_access<&PasidIotlb::domain>},
    {0, 32, 20, field_access<&PasidIotlb::pasid>},
    {1, 0, 6, field_access<&PasidIotlb::address_mask>},
    {1, 6, 1, field_access<&PasidIotlb::leaf_only>},
    kAddressOfPage<PasidIotlb>,
};
using PasidCache = PasidCacheInvalidation;
constexpr WordField<PasidCache> kPasidCacheFields[] = {
    {0, 4, 2, field_access<&PasidCache::granularity>},
    {0, 16, 16, field_access<&PasidCache::domain>},
    {0, 32, 20, field_access<&PasidCache::pasid>},
};
constexpr WordField<DeviceTlb> kPasidDeviceTlbFields[] = {
    {0, 4, 5, field_access<&DeviceTlb::queue_depth>},
    {0, 12, 4, kFunctionPart<0, 0xf>},
    {0, 16, 16, field_access<&DeviceTlb::source>},
    {0, 32, 20, kPasidOrNone<DeviceTlb>},
    {0, 52, 12, kFunctionPart<4, 0xfff>},
    {1, 0, 1, field_access<&DeviceTlb::all_pasids>},
    {1, 11, 1, field_access<&DeviceTlb::is_sized>},
    kAddressOfPage<DeviceTlb>,
};
using Response = PageGroupResponse;
constexpr WordField<Response> kResponseFields[] = {
    {0, 12, 4, field_access<&Response::code>},
    {0, 16, 16, field_access<&Response::source>},
    {0, 32, 20, kPasidOrNone<Response>},
    {0, 4, 1, kHasPasid<Response>},
    {1, 2, 1},
    {1, 3, 9, field_access<&Response::group>},
};
constexpr WordField<HandleInvalidation> kHandleFields[] = {
    {0, 4, 2, field_access<&HandleInvalidation::scope>},
    {0, 16, 16, field_access<&HandleInvalidation::source>},
    {0, 32, 12, field_access<&HandleInvalidation::lower>},
    {0, 48, 12, field_access<&HandleInvalidation::upper>},
};
using Permission = PermissionInvalidation;
constexpr WordField<Permission> kPermissionFields[] = {
    {0, 4, 2, field_access<&Permission::granularity>},
    {0, 6, 1, field_access<&Permission::all_domains>},
    {0, 16, 16, field_access<&Permission::domain>},
    {1, 0, 6, field_access<&Permission::address_mask>},
    kAddressOfPage<Permission>,
};

// Reserved values. [IQU-03]

template <class C>
bool names_pages(const C& command) {
  return static_cast<unsigned>(command.granularity) != 3 || command.address_mask <= kMaxAddressMask;
}
template <class C>
bool is_sound(const C& /*command*/) {
  return true;
}
bool is_sound(const Context& command) {
  return static_cast<unsigned>(command.granularity) != 0;
}
bool is_sound(const Iotlb& command) {
  return static_cast<unsigned>(command.granularity) != 0 && names_pages(command);
}
bool is_sound(const PasidIotlb& command) {
  return static_cast<unsigned>(command.granularity) >= 2 && names_pages(command);
}
bool is_sound(const PasidCache& command) {
  return static_cast<unsigned>(command.granularity) != 2;
}
bool is_sound(const HandleInvalidation& command) {
  return command.scope != DeallocScope::kRange || to_int(command.upper) >= to_int(command.lower);
}
bool is_sound(const Permission& command) {
  const bool is_range = command.granularity == Permission::Granularity::kRange;
  return static_cast<unsigned>(command.granularity) != 0 && (is_range || !command.all_domains) &&
         names_pages(command);
}

template <const auto& kFields>
InvalidationDescriptor parsed(WordPair words) {
  WordPair reserved{words[0] & ~kTypeBits, words[1]};
  for (const auto& field : kFields) {
    reserved[field.word] &= ~field.mask();
  }
  const auto command = read_fields(words, kFields);
  return (reserved[0] | reserved[1]) == 0 && is_sound(command) ? InvalidationDescriptor(command)
                                                               : DescriptorError::kReservedBits;
}

struct Type {
  unsigned number;
  InvalidationDescriptor (*parse)(WordPair words);
  WordPair (*words)(const InvalidationDescriptor& command);
};
template <const auto& kFields>
constexpr Type type_with(unsigned number) {
  return {number, parsed<kFields>, [](const InvalidationDescriptor& command) {
            return words_of(std::get<decltype(read_fields({}, kFields))>(command), kFields);
          }};
}
constexpr Type kTypes[] = {
    // Those that InvalidationDescriptor has, in its order, behind its errors.
    type_with<kContextFields>(1), type_with<kIotlbFields>(2), type_with<kDeviceTlbFields>(3),
    type_with<kInterruptCacheFields>(4), type_with<kWaitFields>(5), type_with<kPasidIotlbFields>(6),
    type_with<kPasidCacheFields>(7), type_with<kResponseFields>(9),
    type_with<kHandleFields>(kHandleInvalidationType),
    type_with<kPermissionFields>(kPermissionInvalidationType),
    // With a PASID.
    type_with<kPasidDeviceTlbFields>(8)};

// Which types need 256 bits no open source confirms. [IQU-11]
constexpr unsigned kUnverifiedFirstWide = 6, kUnverifiedLastWide = 9;
constexpr bool needs_wide(unsigned type) {
  return type >= kUnverifiedFirstWide && type <= kUnverifiedLastWide;
}

constexpr std::uint64_t field(std::uint64_t word, unsigned high, unsigned low) {
  return word >> low & (~std::uint64_t{0} >> (63 - high + low));
}

}  // namespace

ContextCacheInvalidation context_command_of(std::uint64_t ccmd) {
  using Granularity = ContextCacheInvalidation::Granularity;
  ContextCacheInvalidation result;
  result.granularity = static_cast<Granularity>(std::max<std::uint64_t>(1, field(ccmd, 62, 61)));
  result.domain = static_cast<std::uint16_t>(ccmd);
  result.source = Bdf{static_cast<std::uint16_t>(field(ccmd, 31, 16))};
  result.function_mask = static_cast<std::uint8_t>(field(ccmd, 33, 32));
  return result;
}

// IVA is as the second word of a descriptor.
IotlbInvalidation iotlb_command_of(std::uint64_t iotlb, std::uint64_t iva) {
  IotlbInvalidation result = read_fields({0, iva}, kIotlbFields);
  result.granularity =
      static_cast<IotlbInvalidation::Granularity>(std::max<std::uint64_t>(1, field(iotlb, 61, 60)));
  result.domain = static_cast<std::uint16_t>(iotlb >> 32);
  return result;
}

InvalidationDescriptor parse_descriptor(const std::uint8_t* bytes, bool is_wide,
                                        const IommuCapabilities& offers) {
  const WordPair w{load_u64(bytes), load_u64(bytes + 8)};
  const auto type = static_cast<unsigned>(field(w[0], 3, 0) | field(w[0], 11, 9) << 4);
  if (needs_wide(type) && !is_wide) {
    return DescriptorError::kWidth;
  }
  if (is_wide && (load_u64(bytes + 16) | load_u64(bytes + 24)) != 0) {
    return DescriptorError::kReservedBits;
  }
  const auto* const known =
      find_where(kTypes, [type](const auto& one) { return one.number == type; });
  const bool is_offered = type != kPermissionInvalidationType || offers.secure_ats;
  return known != nullptr && is_offered ? known->parse(w) : DescriptorError::kUnknownType;
}

DescriptorBytes encode(const InvalidationDescriptor& command) {
  const auto* const of_tlb = std::get_if<DeviceTlbInvalidation>(&command);
  const bool has_pasid = of_tlb != nullptr && of_tlb->pasid;
  const Type& type = has_pasid ? *std::prev(std::end(kTypes)) : kTypes[command.index() - 1];
  const WordPair words = type.words(command);
  DescriptorBytes bytes{};
  store_u64(bytes.data(), words[0] | (type.number & 0xfU) | std::uint64_t{type.number >> 4U} << 9);
  store_u64(bytes.data() + 8, words[1]);
  return bytes;
}

}  // namespace flitwise
