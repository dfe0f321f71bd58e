// SPDX-License-Identifier: Apache-2.0
// Bring-up: one access after the other, a software step between them.
#include "host/boot.h"

#include <fmt/format.h>

#include <boost/range/algorithm_ext/push_back.hpp>

#include <algorithm>

#include "config_space/ats_capability.h"
#include "config_space/capability.h"
#include "config_space/dhi_dvsec.h"
#include "dhi/dhi_message.h"

namespace flitwise {
namespace {

// Fields of the capability register, as docs/formats/dhi_dvsec.md lays them out.
HandleEnd end_of(std::uint32_t capability, std::uint8_t epoch) {
  return {(capability & 1U) != 0, true, capability >> 4 & 0xfU, epoch};
}

constexpr unsigned kNextShift = 20;  // of the header of an extended capability

Bdf virtual_function(const FoundFunction& pf, unsigned index) {
  return Bdf{static_cast<std::uint16_t>(pf.bdf.value + pf.vf_offset + pf.vf_stride * index)};
}

}  // namespace

Boot::Boot(HostAccess& bridge, Time software_step, std::vector<BootPolicy> policies,
           std::vector<AccessControl> acs)
    : bridge_(bridge),
      step_(software_step),
      policies_(std::move(policies)),
      acs_(std::move(acs)),
      enumerator_(options()) {}

EnumeratorOptions Boot::options() {
  EnumeratorOptions options;
  options.acs_of = [this](const FoundFunction&) {
    return asked_ports_ < acs_.size() ? acs_[asked_ports_++] : AccessControl{};
  };
  options.mrrs_of = [this](const FoundFunction& function) {
    const bool is_known = !function.is_bridge && asked_ < policies_.size();
    return is_known ? policies_[asked_++].mrrs : 512U;
  };
  return options;
}

void Boot::enumerate() {
  const std::optional<CfgAccess> access = enumerator_.next();
  if (!access) {
    collect();
    set_up_next_translation();
    return;
  }
  bridge_.config(*access, [this](const HostAnswer& answer) {
    enumerator_.answer(answer.value(), !answer.is_ok());
    bridge_.after(step_, [this] { enumerate(); });
  });
}

// The devices among the functions that were found.
void Boot::collect() {
  const EnumerationResult& result = enumerator_.result();
  problems_ = result.problems;
  for (std::size_t index = 0; index < result.functions.size(); ++index) {
    const FoundFunction& function = result.functions[index];
    if (function.is_bridge || function.parent < 0) {
      continue;
    }
    const auto first_of = [](const std::vector<FoundBar>& bars) {
      return bars.empty() ? AddressRange{} : bars.front().range;
    };
    BootedDevice device;
    device.pf = function.bdf;
    device.functions = function.num_vfs + 1U;
    const FoundFunction& above = result.functions[static_cast<std::size_t>(function.parent)];
    device.buses = {above.secondary, above.subordinate};
    device.bar = first_of(function.bars);
    device.vf_bars = first_of(function.vf_bars);
    device.pcie = function.capability(cfg::kCapPcie).value_or(0);
    devices_.push_back(device);
    found_.push_back(index);
  }
}

const FoundFunction& Boot::root_of(const FoundFunction& function) const {
  const FoundFunction* root = &function;
  while (root->parent >= 0) {
    root = &enumerator_.result().functions[static_cast<std::size_t>(root->parent)];
  }
  return *root;
}

void Boot::perform(std::vector<CfgAccess> accesses, std::function<void(const Values&)> then,
                   Values so_far) {
  if (so_far.size() == accesses.size()) {
    then(so_far);
    return;
  }
  const CfgAccess access = accesses[so_far.size()];
  bridge_.config(access, [this, accesses = std::move(accesses), then = std::move(then),
                          so_far = std::move(so_far)](const HostAnswer& answer) mutable {
    so_far.push_back(answer.value());
    bridge_.after(step_, [this, accesses, then, so_far] { perform(accesses, then, so_far); });
  });
}

// [DHI D5]
void Boot::negotiate_next() {
  for (; current_ < devices_.size(); ++current_) {
    if (current_ < policies_.size() && policies_[current_].wants_handles) {
      find_dvsec(0);
      return;
    }
    devices_[current_].handles.outcome = NegotiationOutcome::kNotEnabled;
  }
  is_done_ = true;
  done_();
}

// The DVSEC of ours among those that the function has.
void Boot::find_dvsec(std::size_t candidate) {
  const FoundFunction& pf = found(current_);
  while (candidate < pf.extended.size() && pf.extended[candidate].first != cfg::kExtDvsec) {
    ++candidate;
  }
  if (candidate == pf.extended.size()) {
    devices_[current_].handles.outcome = NegotiationOutcome::kNotSupported;
    negotiated();
    return;
  }
  const std::uint16_t start = pf.extended[candidate].second;
  perform({CfgAccess::read_of(pf.bdf, register_at(start, dvsec::kHeader1)),
           CfgAccess::read_of(pf.bdf, register_at(start, dvsec::kHeader2)),
           CfgAccess::read_of(pf.bdf, register_at(start, dvsec::kCapability))},
          [this, candidate, start](const Values& values) {
            const bool is_ours = (values[0] & 0xffffU) == kHandleVendorId &&
                                 (values[1] & 0xffffU) == dvsec::kDvsecId;
            if (is_ours) {
              devices_[current_].dvsec = start;
              negotiate_with(values[2]);
            } else {
              find_dvsec(candidate + 1);
            }
          });
}

void Boot::negotiate_with(std::uint32_t device_capability) {
  const FoundFunction& root = root_of(found(current_));
  const std::uint16_t start = root.extended_capability(cfg::kExtDvsec).value_or(0);
  perform({CfgAccess::read_of(root.bdf, register_at(start, dvsec::kCapability))},
          [this, start, device_capability](const Values& values) {
            const BootPolicy& policy = policies_[current_];
            HandleEnd host = end_of(values[0], policy.epoch);
            host.is_supported = host.is_supported && start != 0;
            devices_[current_].handles = negotiate(host, end_of(device_capability, policy.epoch),
                                                   policy.range, policy.every_hop_aware);
            set_up_handles();
          });
}

// A root port has one range for all devices below it. [DHI D2]
HandleRange Boot::range_below(const FoundFunction& root) const {
  HandleRange all = HandleRange::none();
  for (std::size_t i = 0; i < devices_.size() && i < policies_.size(); ++i) {
    const HandleRange one = policies_[i].range;
    if (!policies_[i].wants_handles || root_of(found(i)).bdf != root.bdf) {
      continue;
    }
    all = all.size() == 0
              ? one
              : HandleRange{std::min(all.lower, one.lower), std::max(all.upper, one.upper)};
  }
  return all;
}

// The host's end first, so that the device finds it ready. [DHI D6]
void Boot::set_up_handles() {
  const BootedDevice& device = devices_[current_];
  const BootPolicy& policy = policies_[current_];
  if (device.handles.outcome != NegotiationOutcome::kNotSupported) {
    bridge_.grant_handles(static_cast<unsigned>(current_), device.buses, policy.range);
  }
  if (!device.handles.is_active()) {
    problems_.push_back(
        fmt::format("device {}: no handles: {}", current_, name_of(device.handles.outcome)));
    negotiated();
    return;
  }
  const DhiSetUp set_up{policy.range, true, policy.is_software_managed, policy.epoch};
  const FoundFunction& root = root_of(found(current_));
  DhiSetUp host_set_up = set_up;
  host_set_up.range = range_below(root);
  std::vector<CfgAccess> accesses =
      dhi_accesses(root.bdf, *root.extended_capability(cfg::kExtDvsec), host_set_up);
  boost::range::push_back(accesses, dhi_accesses(device.pf, device.dvsec, set_up));
  perform(std::move(accesses), [this](const Values&) { negotiated(); });
}

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
    boost::range::push_back(accesses, pasid_accesses(pf.bdf, *pasid, {true, false, false, 0}));
  }
  const auto ats = pf.extended_capability(cfg::kExtAts);
  if (ats && policy.wants_translations) {
    boost::range::push_back(accesses, ats_accesses(pf.bdf, *ats, policy.stu, true));
    for (unsigned vf = 0; virtual_ats != 0 && vf < pf.num_vfs; ++vf) {
      boost::range::push_back(
          accesses, ats_accesses(virtual_function(pf, vf), virtual_ats, policy.stu, true));
    }
    if (const auto pages = pf.extended_capability(cfg::kExtPri)) {
      boost::range::push_back(accesses, pri_accesses(pf.bdf, *pages, policy.page_requests, true));
    }
  }
  perform(std::move(accesses), [this](const Values&) {
    ++translated_;
    set_up_next_translation();
  });
}

}  // namespace flitwise
