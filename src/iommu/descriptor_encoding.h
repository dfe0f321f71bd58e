// SPDX-License-Identifier: Apache-2.0
/// Descriptors of the invalidation queue as software writes them: 256 bits each. [IOM-5.1]
#pragma once

#include <array>
#include <cstdint>

#include "iommu/invalidation_descriptor.h"

namespace flitwise {

inline constexpr unsigned kWideDescriptorBytes = 32;
using DescriptorBytes = std::array<std::uint8_t, kWideDescriptorBytes>;

/// What parse_descriptor() reads as the same command. REQUIRES: fields fit their widths.
DescriptorBytes encode(const IotlbInvalidation& command);
/// Of type 8 where it names a PASID, else of type 3. [IOM-5.4]
DescriptorBytes encode(const DeviceTlbInvalidation& command);
DescriptorBytes encode(const InvalidationWait& command);
DescriptorBytes encode(const PasidIotlbInvalidation& command);
DescriptorBytes encode(const PasidCacheInvalidation& command);
DescriptorBytes encode(const PageGroupResponse& command);
DescriptorBytes encode(const PermissionInvalidation& command);

}  // namespace flitwise
