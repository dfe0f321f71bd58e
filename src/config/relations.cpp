// SPDX-License-Identifier: Apache-2.0
// Cross-field checks, one function each.
#include "config/relations.h"

#include <fmt/format.h>

#include "config/credit_relations.h"
#include "config/names.h"
#include "config/patience_relations.h"
#include "config/quantity.h"
#include "config/relations_cxl.h"
#include "endpoint/domain_numbers.h"
#include "flitwise/ids.h"

namespace flitwise::config {

namespace {

using Broken = std::vector<BrokenRelation>;

void check_domains(const Config& config, Broken& broken) {
  const Identity identity = config.link.identity;
  const std::uint64_t functions = config.device.functions.count;
  const bool pasid_tells_apart = identity != Identity::kBdf && config.device.functions.has_pasid;
  const bool is_translated = config.iommu.translation != Translation::kOff;
  // Software uses no wider PASIDs than the translation agent has. [CFG-10]
  const unsigned bits = is_translated ? config.iommu.capabilities.pasid_bits : kPasidBits;
  const std::uint64_t limit =
      DomainNumbers(config.device, pasid_tells_apart && bits > 0).limit(bits);
  if (identity == Identity::kNone || config.workload.domains <= limit) {
    return;
  }
  broken.push_back(
      {{"link.identity", "device.functions.count", "device.functions.has_pasid",
        "workload.domains"},
       fmt::format("{} domains with {} function(s){} and identity {}; expected "
                   "workload.domains up to {}, or more functions{}",
                   config.workload.domains, functions,
                   config.device.functions.has_pasid ? "" : " without PASID", spelling(identity),
                   limit, bits < kPasidBits ? ", or more iommu.capabilities.pasid_bits" : "")});
}

/// Which forms a handle may take where. [DHI D23]
void check_form(const Config& config, bool has_switch, Broken& broken) {
  const DhiForm form = config.link.dhi_form;
  const bool has_flits = config.link.is_in_flit_mode();
  if (form == DhiForm::kOhc && !has_flits) {
    broken.push_back({{"link.dhi_form", "link.flit_mode", "link.preset"},
                      "form ohc on a link that is not in flit mode; expected rid_direct, "
                      "rid_fabric, tag or prefix"});
  }
  if (has_flits && (form == DhiForm::kTag || form == DhiForm::kPrefix)) {
    broken.push_back({{"link.dhi_form", "link.flit_mode", "link.preset"},
                      fmt::format("form {} on a link in flit mode; expected rid_direct, rid_fabric "
                                  "or ohc",
                                  spelling(form))});
  }
  if (config.link.identity != Identity::kDhi || config.link.carrier != Carrier::kPcie) {
    return;
  }
  const std::vector<std::string> paths = {"link.identity", "link.dhi_form", "system.topology",
                                          "system.switch_mode"};
  if (form == DhiForm::kRidDirect && has_switch) {
    broken.push_back({paths,
                      "form rid_direct with a switch in the topology; expected rid_fabric, tag or "
                      "prefix"});
  }
  if (form == DhiForm::kRidFabric && has_switch &&
      config.system.switch_mode == SwitchMode::kLegacy) {
    broken.push_back({paths,
                      "form rid_fabric behind a legacy switch; expected system.switch_mode "
                      "handle_aware, or form tag or prefix"});
  }
}

/// Flits need a whole number of rows, and scaled flow control. [LNK-11.4] [LNK-11.11]
void check_flit_mode(const Config& config, Broken& broken) {
  const LinkConfig& link = config.link;
  if (link.flit_mode && link.carrier != Carrier::kPcie) {
    broken.push_back({{"link.flit_mode", "link.carrier"},
                      "flit mode on the bit-packed carrier; expected link.flit_mode false"});
  }
  if (link.preset.cxl != CxlFlits::kNone && link.carrier != Carrier::kPcie) {
    broken.push_back({{"link.preset", "link.carrier"},
                      "a CXL link with the bit-packed carrier; expected link.carrier pcie"});
  }
  if (link.preset.cxl == CxlFlits::k68 && link.flit_mode) {
    broken.push_back({{"link.preset", "link.flit_mode"},
                      "68-byte flits in flit mode; expected link.flit_mode false"});
  }
  if (link.cxl.latency_optimised && link.preset.cxl != CxlFlits::k256) {
    broken.push_back({{"link.cxl.latency_optimised", "link.preset"},
                      "the latency-optimised form without 256-byte flits of CXL; expected "
                      "link.preset cxl256_gen6x16 or the like"});
  }
  if (link.is_in_flit_mode() && !link.credits.scaled) {
    broken.push_back({{"link.credits.scaled", "link.flit_mode", "link.preset"},
                      "flit mode without scaled flow control; expected link.credits.scaled true"});
  }
  if (link.is_in_flit_mode() && 16 % link.preset.lanes != 0) {
    broken.push_back(
        {{"link.flit_mode", "link.preset"},
         fmt::format("flit mode with {} lanes; expected 1, 2, 4, 8 or 16", link.preset.lanes)});
  }
}

/// Headers of non-flit mode have no room for more. [LNK-9.8]
void check_tag_bits(const Config& config, Broken& broken) {
  if (config.device.tag_bits == 14 && !config.link.is_in_flit_mode()) {
    broken.push_back({{"device.tag_bits", "link.flit_mode", "link.preset", "link.carrier"},
                      "14-bit tags without flit mode; expected device.tag_bits up to 10, or "
                      "link.flit_mode true"});
  }
}

/// The tag of a posted write has eight bits, and ten with T9:T8.
void check_tag_form(const Config& config, Broken& broken) {
  const unsigned room = config.device.tag_bits == 10 ? 10 : 8;
  const bool is_used =
      config.link.identity == Identity::kDhi && config.link.dhi_form == DhiForm::kTag;
  if (is_used && config.device.dhi.bits > room) {
    broken.push_back({{"link.identity", "link.dhi_form", "device.dhi.bits", "device.tag_bits"},
                      fmt::format("{}-bit handles in a tag with {} bits of room; expected "
                                  "device.dhi.bits up to 8, or up to 10 with device.tag_bits 10",
                                  config.device.dhi.bits, room)});
  }
}

/// One TLP of the largest payload must fit the advertisement. [LNK-8.7]
void check_least_credits(const Config& config, Broken& broken) {
  const Bytes unit = 16;
  const Bytes least = config.link.mps / unit;
  const auto check = [&](const std::string& name, std::uint32_t credits) {
    if (credits != kInfiniteCredits && credits < least) {
      broken.push_back({{"link.mps", "link.credits." + name},
                        fmt::format("{} data credits of 16B for an MPS of {}; expected link.credits"
                                    ".{} of at least {}, or infinite",
                                    credits, size_text(config.link.mps), name, least)});
    }
  };
  check("posted_data", config.link.credits.posted_data);
  check("completion_data", config.link.credits.completion_data);
}

/// Without scaling the counters are small. [LNK-8.8]
void check_unscaled_credits(const Config& config, Broken& broken) {
  const auto& credits = config.link.credits;
  const auto check = [&](const std::string& name, std::uint32_t value, std::uint32_t most) {
    if (!credits.scaled && value > most) {
      broken.push_back({{"link.credits.scaled", "link.credits." + name},
                        fmt::format("{} credits without scaled flow control; expected link.credits"
                                    ".{} up to {}, infinite, or link.credits.scaled: true",
                                    value, name, most)});
    }
  };
  constexpr std::uint32_t kMostHeaders = 127;
  constexpr std::uint32_t kMostData = 2047;
  check("posted_headers", credits.posted_headers, kMostHeaders);
  check("posted_data", credits.posted_data, kMostData);
  check("nonposted_headers", credits.nonposted_headers, kMostHeaders);
  check("nonposted_data", credits.nonposted_data, kMostData);
  check("completion_headers", credits.completion_headers, kMostHeaders);
  check("completion_data", credits.completion_data, kMostData);
}

void check_replay_buffer(const Config& config, Broken& broken) {
  // Sequence number, prefix, header, ECRC and LCRC beside the payload, rounded up.
  const Bytes least = config.link.mps + 32;
  if (config.link.replay_buffer < least) {
    broken.push_back({{"link.mps", "link.replay_buffer"},
                      fmt::format("a replay buffer of {} cannot hold a TLP of {} payload; expected "
                                  "link.replay_buffer of at least {}",
                                  size_text(config.link.replay_buffer), size_text(config.link.mps),
                                  size_text(least))});
  }
}

void check_flit(const Config& config, Broken& broken) {
  if (config.message.crc_bits >= config.message.flit_bits) {
    broken.push_back({{"message.crc_bits", "message.flit_bits"},
                      fmt::format("{} CRC bits in a flit of {}; expected message.crc_bits below "
                                  "message.flit_bits",
                                  config.message.crc_bits, config.message.flit_bits)});
  }
}

void check_bit_packed(const Config& config, bool has_switch, Broken& broken) {
  if (config.link.carrier == Carrier::kBitPacked && config.link.error_rate > 0) {
    broken.push_back(
        {{"link.carrier", "link.error_rate"},
         "bit errors on the bit-packed carrier, which has no replay in the model; expected "
         "link.error_rate 0"});
  }
  if (config.link.carrier == Carrier::kBitPacked && has_switch) {
    broken.push_back({{"link.carrier", "system.topology"},
                      "the bit-packed carrier with a switch; expected system.topology direct, it "
                      "runs from point to point"});
  }
}

void check_buffers(const Config& config, Broken& broken) {
  const auto& workload = config.workload;
  if (workload.via != WorkloadVia::kDma && workload.via != WorkloadVia::kCxlCache) {
    return;  // memory of the device: check_cxl
  }
  const Bytes memory = config.host.memory.size;
  const Bytes room = workload.buffer_base < memory ? memory - workload.buffer_base : 0;
  if (workload.domains > room / workload.buffer_size) {
    broken.push_back(
        {{"workload.buffer_base", "workload.buffer_size", "workload.domains", "host.memory.size"},
         fmt::format("{} buffers of {} from {} on end beyond the memory of {}; expected a larger "
                     "host.memory.size, or smaller or fewer buffers",
                     workload.domains, size_text(workload.buffer_size),
                     size_text(workload.buffer_base), size_text(memory))});
  }
  if (workload.sizes.empty() && workload.payload > workload.buffer_size) {
    broken.push_back({{"workload.payload", "workload.buffer_size"},
                      fmt::format("requests of {} in a buffer of {}; expected workload.buffer_size "
                                  "of at least one request",
                                  size_text(workload.payload), size_text(workload.buffer_size))});
  }
  if (!workload.sizes.empty() && workload.size_cap > workload.buffer_size) {
    broken.push_back({{"workload.sizes", "workload.size_cap", "workload.buffer_size"},
                      fmt::format("messages of up to {} in a buffer of {}; expected "
                                  "workload.size_cap up to workload.buffer_size",
                                  size_text(workload.size_cap), size_text(workload.buffer_size))});
  }
}

void check_trace(const Config& config, Broken& broken) {
  if (config.workload.kind == WorkloadKind::kTrace && config.workload.trace.empty()) {
    broken.push_back({{"workload.kind", "workload.trace"},
                      "kind trace without a trace; expected workload.trace with the path of a CSV "
                      "file"});
  }
}

void check_working_set(const Config& config, Broken& broken) {
  const auto& workload = config.workload;
  if (workload.domain_choice == DomainChoice::kWorkingSet &&
      workload.working_set > workload.domains) {
    broken.push_back({{"workload.domain_choice", "workload.working_set", "workload.domains"},
                      fmt::format("a working set of {} out of {} domains; expected "
                                  "workload.working_set up to workload.domains",
                                  workload.working_set, workload.domains)});
  }
}

void check_hostile(const Config& config, Broken& broken) {
  if (config.workload.kind == WorkloadKind::kHostile && config.link.carrier != Carrier::kPcie) {
    broken.push_back({{"workload.kind", "link.carrier"},
                      "hostile TLPs on the bit-packed carrier; expected link.carrier pcie"});
  }
}

void check_grant(const Config& config, Broken& broken) {
  const auto& granted = config.host.dhi.granted;
  if (granted.first_pasid > granted.last_pasid) {
    broken.push_back({{"host.dhi.granted.first_pasid", "host.dhi.granted.last_pasid"},
                      fmt::format("PASIDs {} to {}; expected host.dhi.granted.last_pasid of at "
                                  "least {}",
                                  granted.first_pasid, granted.last_pasid, granted.first_pasid)});
  }
}

void check_translation(const Config& config, Broken& broken) {
  if (config.iommu.translation != Translation::kOff &&
      config.workload.kind == WorkloadKind::kTrace) {
    broken.push_back({{"iommu.translation", "workload.kind"},
                      "translation of a trace, whose addresses nobody has mapped; expected "
                      "iommu.translation off"});
  }
}

void check_driver(const Config& config, Broken& broken) {
  if (!config.host.iommu_driver.enabled) {
    return;
  }
  const Translation translation = config.iommu.translation;
  if (translation != Translation::kFirstStage && translation != Translation::kSecondStage) {
    broken.push_back({{"host.iommu_driver.enabled", "iommu.translation"},
                      fmt::format("a driver that maps pages with translation {}; expected "
                                  "iommu.translation first_stage or second_stage",
                                  spelling(translation))});
  }
  constexpr Bytes kLargestPermitted = Bytes{2} << 20;
  if (config.iommu.secure_ats && config.iommu.page > kLargestPermitted) {
    broken.push_back({{"host.iommu_driver.enabled", "iommu.secure_ats", "iommu.page"},
                      fmt::format("a driver that permits 4 KiB at a time, of pages of {}; expected "
                                  "iommu.page of at most 2MiB",
                                  size_text(config.iommu.page))});
  }
  if (config.host.iommu_driver.teardown_rate > 0 && config.link.carrier != Carrier::kPcie) {
    broken.push_back({{"host.iommu_driver.teardown_rate", "link.carrier"},
                      "contexts that end on the bit-packed carrier; expected link.carrier pcie"});
  }
  if (config.host.iommu_driver.teardown_reset &&
      config.device.functions.count < config.workload.domains) {
    broken.push_back(
        {{"host.iommu_driver.teardown_reset", "device.functions.count", "workload.domains"},
         fmt::format("a reset of functions that {} domains share; expected device.functions.count "
                     "of at least workload.domains",
                     config.workload.domains)});
  }
}

void check_caches(const Config& config, Broken& broken) {
  const auto check = [&](const std::string& name, const CacheConfig& cache) {
    if (cache.ways != 0 && cache.entries % cache.ways != 0) {
      broken.push_back({{name + ".entries", name + ".ways"},
                        fmt::format("{} entries in sets of {}; expected {}.ways that divide them",
                                    cache.entries, cache.ways, name)});
    }
  };
  check("iommu.context_cache", config.iommu.context_cache);
  check("iommu.pasid_cache", config.iommu.pasid_cache);
  check("iommu.iotlb", config.iommu.iotlb);
  check("iommu.paging_cache", config.iommu.paging_cache);
  check("iommu.second_stage_cache", config.iommu.second_stage_cache);
  check("iommu.permission_cache", config.iommu.permission_cache);
  check("device.atc", {config.device.atc.entries, config.device.atc.ways});
}

/// What goes with a cache of translations in the device.
void check_ats(const Config& config, Broken& broken) {
  const AtcConfig& atc = config.device.atc;
  if (config.device.pri.enabled && !atc.enabled) {  // [PRI-19]
    broken.push_back({{"device.pri.enabled", "device.atc.enabled"},
                      "page requests without ATS; expected device.atc.enabled: true"});
  }
  if (!atc.enabled) {
    return;
  }
  if (config.link.carrier != Carrier::kPcie) {
    broken.push_back({{"device.atc.enabled", "link.carrier"},
                      "ATS on the bit-packed carrier; expected link.carrier pcie"});
  }
  if (config.workload.at == At::kTranslated) {
    broken.push_back({{"device.atc.enabled", "workload.at"},
                      "a cache of translations for addresses that are translated already; expected "
                      "workload.at untranslated, or translated_pasid where hits shall have their "
                      "PASID"});
  }
  constexpr unsigned kSmallestPage = 12;
  const Bytes unit = Bytes{1} << (kSmallestPage + atc.stu);
  if (config.iommu.translation != Translation::kOff && unit > config.iommu.page) {  // [CFG-05]
    broken.push_back({{"device.atc.stu", "iommu.page"},
                      fmt::format("a smallest translation unit of {} above pages of {}; expected "
                                  "device.atc.stu so that no page is smaller",
                                  size_text(unit), size_text(config.iommu.page))});
  }
}

}  // namespace

std::vector<BrokenRelation> broken_relations(const Config& config, const TopologyFacts& topology) {
  Broken broken;
  check_domains(config, broken);
  check_form(config, topology.has_switch, broken);
  check_tag_bits(config, broken);
  check_tag_form(config, broken);
  check_least_credits(config, broken);
  check_unscaled_credits(config, broken);
  add_broken_shared_credits(config, broken);
  check_replay_buffer(config, broken);
  check_flit(config, broken);
  check_flit_mode(config, broken);
  check_cxl(config, topology, broken);
  check_bit_packed(config, topology.has_switch, broken);
  check_buffers(config, broken);
  check_trace(config, broken);
  check_working_set(config, broken);
  check_hostile(config, broken);
  check_grant(config, broken);
  add_short_patience(config, broken);
  check_translation(config, broken);
  check_driver(config, broken);
  check_caches(config, broken);
  check_ats(config, broken);
  return broken;
}

}  // namespace flitwise::config
