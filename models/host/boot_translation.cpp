// SPDX-License-Identifier: Apache-2.0
// Bring-up: PASID, ATS and page requests of the devices that have them.
#include "config_space/ats_capability.h"
#include "host/boot.h"

namespace flitwise {
namespace {

constexpr unsigned kNextShift = 20;  // of the header of an extended capability

Bdf virtual_function(const FoundFunction& pf, unsigned index) {
  return Bdf{static_cast<std::uint16_t>(pf.bdf.value + pf.vf_offset + pf.vf_stride * index)};
}

}  // namespace

void Boot::set_up_next_translation() {
  for (; translated_ < devices_.size(); ++translated_) {
    const FoundFunction& pf = found(translated_);
    const bool has_ats = pf.extended_capability(cfg::kExtAts).has_value();
    if (translated_ >= policies_.size() ||
        (!has_ats && !pf.extended_capability(cfg::kExtPasid).has_value())) {
      continue;
    }
    if (has_ats && policies_[translated_].wants_translations && pf.num_vfs > 0) {
      read_virtual_function(cfg::kExtendedStart);
    } else {
      enable_translation(0);
    }
    return;
  }
  negotiate_next();
}

// Looks for ATS among the extended capabilities of the first VF: all of a PF are alike.
void Boot::read_virtual_function(std::uint16_t offset) {
  const FoundFunction& pf = found(translated_);
  perform({CfgAccess::read_of(virtual_function(pf, 0), offset)},
          [this, offset](const Values& values) {
            const auto next = static_cast<std::uint16_t>(values[0] >> kNextShift);
            if ((values[0] & 0xffffU) == cfg::kExtAts) {
              enable_translation(offset);
            } else if (next > offset) {
              read_virtual_function(next);
            } else {
              enable_translation(0);
            }
          });
}

// PASID first, since it must not change under ATS; page requests last. virtual_ats: where ATS is in
// each VF; 0: nowhere. [CFG-07] [CFG-10] [CFG-12] [PRI-19]
void Boot::enable_translation(std::uint16_t virtual_ats) {
  const FoundFunction& pf = found(translated_);
  const BootPolicy& policy = policies_[translated_];
  std::vector<CfgAccess> accesses;
  const auto pasid = pf.extended_capability(cfg::kExtPasid);
  if (pasid && policy.pasid_bits > 0) {
    append(accesses, pasid_accesses(pf.bdf, *pasid, {true, false, false, 0}));
  }
  const auto ats = pf.extended_capability(cfg::kExtAts);
  if (ats && policy.wants_translations) {
    append(accesses, ats_accesses(pf.bdf, *ats, policy.stu, true));
    for (unsigned vf = 0; virtual_ats != 0 && vf < pf.num_vfs; ++vf) {
      append(accesses, ats_accesses(virtual_function(pf, vf), virtual_ats, policy.stu, true));
    }
    if (const auto pages = pf.extended_capability(cfg::kExtPri)) {
      append(accesses, pri_accesses(pf.bdf, *pages, policy.page_requests, true));
    }
  }
  perform(std::move(accesses), [this](const Values&) {
    ++translated_;
    set_up_next_translation();
  });
}

}  // namespace flitwise
