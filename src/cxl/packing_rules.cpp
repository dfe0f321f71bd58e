// SPDX-License-Identifier: Apache-2.0
// What a sender holds to unless told otherwise. All of it is unverified or the model's.
#include "cxl/flit_layout.h"
#include "cxl/owed_data.h"

namespace flitwise {
namespace {

// By CxlChannel, for 68-byte flits. unverified [CXL-2.9]
constexpr std::array<std::uint8_t, kCxlChannels> kPerFlit68 = {4, 2, 4, 2, 4, 4, 2, 1, 1, 2, 3, 1};
// No bound is known for 256-byte flits. unverified [CXL-2.9]
constexpr std::uint8_t kPerFlit256 = 255;

// model: in 68-byte flits the bounds above suffice. In 256-byte flits header slots could announce
// more lines than generic slots can carry; this is the least bound that never leaves one of those
// free while reads wait. [CXL-4.6]
constexpr std::uint16_t kMostOwed68 = 4 * CxlOwedData::kMostLines, kMostOwed256 = 20;

}  // namespace

CxlPackingRules::CxlPackingRules(CxlFlitForm form,
                                 const std::array<std::uint8_t, kCxlChannels>& bounds) {
  per_flit = kPerFlit68;
  most_owed_chunks = kMostOwed68;
  if (form != CxlFlitForm::k68) {
    per_flit.fill(kPerFlit256);
    most_owed_chunks = kMostOwed256;
  }
  for (std::size_t i = 0; i < kCxlChannels; ++i) {
    per_flit[i] = bounds[i] > 0 ? bounds[i] : per_flit[i];
  }
}

}  // namespace flitwise
