// SPDX-License-Identifier: Apache-2.0
// Cross-field checks, one function each.
#include "config/relations.h"

#include <array>

#include "common/quantity.h"
#include "common/ranges.h"
#include "config/names.h"
#include "endpoint/domain_numbers.h"
#include "flitwise/tlp.h"
#include "network/network_setup.h"

namespace flitwise::config {
namespace {

/// Which forms a handle may take where. [DHI D23]
void check_form(const Config& config, bool has_switch, BrokenRelations& broken) {
  if (config.link.identity != Identity::kDhi || config.link.carrier != Carrier::kPcie) {
    return;  // no message has it
  }
  const DhiForm form = config.link.dhi_form;
  const bool has_flits = config.link.is_in_flit_mode();
  broken.add_if(form == DhiForm::kOhc && !has_flits,
                {"link.dhi_form", "link.identity", "link.flit_mode", "link.preset"},
                "form ohc on a link that is not in flit mode; expected rid_direct, rid_fabric, tag "
                "or prefix");
  broken.add_if(has_flits && (form == DhiForm::kTag || form == DhiForm::kPrefix),
                {"link.dhi_form", "link.identity", "link.flit_mode", "link.preset"},
                "form {} on a link in flit mode; expected rid_direct, rid_fabric or ohc",
                spelling(form));
  const std::vector<std::string> paths = {"link.identity", "link.dhi_form", "system.topology",
                                          "system.switch_mode"};
  broken.add_if(
      form == DhiForm::kRidDirect && has_switch, paths,
      "form rid_direct with a switch in the topology; expected rid_fabric, tag or prefix");
  broken.add_if(
      form == DhiForm::kRidFabric && has_switch && config.system.switch_mode == SwitchMode::kLegacy,
      paths,
      "form rid_fabric behind a legacy switch; expected system.switch_mode handle_aware, or form "
      "tag or prefix");
}

/// Flits need a whole number of rows, and scaled flow control. [LNK-11.4] [LNK-11.11]
void check_flit_mode(const Config& config, BrokenRelations& broken) {
  const LinkConfig& link = config.link;
  broken.add_if(link.flit_mode && link.carrier != Carrier::kPcie,
                {"link.flit_mode", "link.carrier"},
                "flit mode on the bit-packed carrier; expected link.flit_mode false");
  broken.add_if(link.preset.cxl != CxlFlits::kNone && link.carrier != Carrier::kPcie,
                {"link.preset", "link.carrier"},
                "a CXL link with the bit-packed carrier; expected link.carrier pcie");
  broken.add_if(link.preset.cxl == CxlFlits::k68 && link.flit_mode,
                {"link.preset", "link.flit_mode"},
                "68-byte flits in flit mode; expected link.flit_mode false");
  broken.add_if(link.cxl.latency_optimised && link.preset.cxl != CxlFlits::k256,
                {"link.cxl.latency_optimised", "link.preset"},
                "the latency-optimised form without 256-byte flits of CXL; expected link.preset "
                "cxl256_gen6x16 or the like");
  broken.add_if(link.is_in_flit_mode() && !link.credits.scaled,
                {"link.credits.scaled", "link.flit_mode", "link.preset"},
                "flit mode without scaled flow control; expected link.credits.scaled true");
  broken.add_if(link.is_in_flit_mode() && 16 % link.preset.lanes != 0,
                {"link.flit_mode", "link.preset"},
                "flit mode with {} lanes; expected 1, 2, 4, 8 or 16", link.preset.lanes);
}

void check_tags(const Config& config, BrokenRelations& broken) {
  // Headers of non-flit mode have no room for more. [LNK-9.8]
  broken.add_if(
      config.device.tag_bits == 14 && !config.link.is_in_flit_mode(),
      {"device.tag_bits", "link.flit_mode", "link.preset", "link.carrier"},
      "14-bit tags without flit mode; expected device.tag_bits up to 10, or link.flit_mode true");
  // The tag of a posted write has eight bits, and ten with T9:T8.
  const unsigned room = config.device.tag_bits == 10 ? 10 : 8;
  const bool is_used =
      config.link.identity == Identity::kDhi && config.link.dhi_form == DhiForm::kTag;
  broken.add_if(is_used && config.device.dhi.bits > room,
                {"link.identity", "link.dhi_form", "device.dhi.bits", "device.tag_bits"},
                "{}-bit handles in a tag with {} bits of room; expected device.dhi.bits up to 8, "
                "or up to 10 with device.tag_bits 10",
                config.device.dhi.bits, room);
}

/// One class with the two kinds of credits that it has. 0 of the dedicated ones: infinite.
struct ClassCredits {
  std::string name;
  std::uint32_t headers, data;
  std::uint32_t shared_headers, shared_data;
  std::string dedicated() const { return "link.credits." + name; }
  std::string shared() const { return "link.shared_credits." + name; }
  bool has_shared() const { return shared_headers > 0 || shared_data > 0; }
};

std::array<ClassCredits, kFcClasses> classes_of(const LinkConfig& link) {
  const auto& own = link.credits;
  const auto& shared = link.shared_credits;
  return {
      {{"posted", own.posted_headers, own.posted_data, shared.posted_headers, shared.posted_data},
       {"nonposted", own.nonposted_headers, own.nonposted_data, shared.nonposted_headers,
        shared.nonposted_data},
       {"completion", own.completion_headers, own.completion_data, shared.completion_headers,
        shared.completion_data}}};
}

/// One TLP of the largest payload must fit the advertisement. [LNK-8.7] Without scaling the
/// counters are small. [LNK-8.8]
void check_credits(const Config& config, BrokenRelations& broken) {
  const auto classes = classes_of(config.link);
  const Bytes least = config.link.mps / 16;
  for (const ClassCredits& one : classes) {
    const std::string key = one.dedicated() + "_data";
    broken.add_if(
        one.name != "nonposted" && one.data != kInfiniteCredits && one.data < least,
        {"link.mps", key},
        "{} data credits of 16B for an MPS of {}; expected {} of at least {}, or infinite",
        one.data, size_text(config.link.mps), key, least);
  }
  const auto check = [&](const std::string& key, std::uint32_t value, std::uint32_t most) {
    broken.add_if(!config.link.credits.scaled && value > most, {"link.credits.scaled", key},
                  "{} credits without scaled flow control; expected {} up to {}, infinite, or "
                  "link.credits.scaled: true",
                  value, key, most);
  };
  constexpr std::uint32_t kMostHeaders = 127, kMostData = 2047;
  for (const ClassCredits& one : classes) {
    check(one.dedicated() + "_headers", one.headers, kMostHeaders);
    check(one.dedicated() + "_data", one.data, kMostData);
  }
}

/// Between the two kinds of credits of flit mode: dedicated credits keep each class going, shared
/// ones come on top. [LNK-11.23] [LNK-11.26]
void check_shared_credits(const Config& config, BrokenRelations& broken) {
  const bool is_merged = config.link.shared_credits.merged;
  const auto classes = classes_of(config.link);
  const bool is_used =
      is_merged || classes[0].has_shared() || classes[1].has_shared() || classes[2].has_shared();
  if (broken.add_if(
          is_used && !config.link.is_in_flit_mode(),
          {"link.shared_credits.posted_headers", "link.shared_credits.posted_data",
           "link.shared_credits.nonposted_headers", "link.shared_credits.nonposted_data",
           "link.shared_credits.completion_headers", "link.shared_credits.completion_data",
           "link.shared_credits.merged", "link.flit_mode", "link.preset", "link.carrier"},
          "shared credits without flit mode; expected link.shared_credits of 0, or link.flit_mode "
          "true") ||
      broken.add_if(
          is_merged && (classes[0].shared_headers == 0 || classes[2].has_shared()),
          {"link.shared_credits.merged", "link.shared_credits.posted_headers",
           "link.shared_credits.completion_headers", "link.shared_credits.completion_data"},
          "merged credits stand with those of posted requests; expected "
          "link.shared_credits.posted_headers of at least 1, and 0 for completions")) {
    return;
  }
  for (const ClassCredits& one : classes) {
    const std::string shared = one.shared(), dedicated = one.dedicated();
    broken.add_if(
        one.shared_headers == 0 && one.shared_data > 0, {shared + "_headers", shared + "_data"},
        "shared data credits without headers; expected {}_headers of at least 1, or {}_data 0",
        shared, shared);
    const bool is_infinite = one.headers == kInfiniteCredits || one.data == kInfiniteCredits;
    const bool needs_numbers = one.shared_headers > 0 || (is_merged && one.name != "nonposted");
    broken.add_if(needs_numbers && is_infinite,
                  {shared + "_headers", "link.shared_credits.merged", dedicated + "_headers",
                   dedicated + "_data"},
                  "shared credits beside infinite ones; expected numbers for {}_headers and "
                  "{}_data",
                  dedicated, dedicated);
  }
}

void check_units(const Config& config, BrokenRelations& broken) {
  // Sequence number, prefix, header, ECRC and LCRC beside the payload, rounded up.
  const Bytes least = config.link.mps + 32;
  broken.add_if(config.link.replay_buffer < least, {"link.mps", "link.replay_buffer"},
                "a replay buffer of {} cannot hold a TLP of {} payload; expected "
                "link.replay_buffer of at least {}",
                size_text(config.link.replay_buffer), size_text(config.link.mps), size_text(least));
  broken.add_if(config.message.crc_bits >= config.message.flit_bits,
                {"message.crc_bits", "message.flit_bits"},
                "{} CRC bits in a flit of {}; expected message.crc_bits below message.flit_bits",
                config.message.crc_bits, config.message.flit_bits);
}

void check_bit_packed(const Config& config, bool has_switch, BrokenRelations& broken) {
  broken.add_if(config.link.carrier == Carrier::kBitPacked && config.link.error_rate > 0,
                {"link.carrier", "link.error_rate"},
                "bit errors on the bit-packed carrier, which has no replay in the model; expected "
                "link.error_rate 0");
  broken.add_if(config.link.carrier == Carrier::kBitPacked && has_switch,
                {"link.carrier", "system.topology"},
                "the bit-packed carrier with a switch; expected system.topology direct, it runs "
                "from point to point");
}

void check_buffers(const Config& config, BrokenRelations& broken) {
  const auto& workload = config.workload;
  if (!has_requests(workload.via) && workload.via != WorkloadVia::kCxlCache) {
    return;  // memory of the device: check_cxl
  }
  if (workload.kind == WorkloadKind::kTrace) {
    const auto& dhi = config.device.dhi;
    const bool flushes = config.uses_handles() && dhi.supported && dhi.enabled;
    broken.add_if(flushes && workload.buffer_base >= config.host.memory.size,
                  {"workload.buffer_base", "host.memory.size"},
                  "flushes of handles read {}, beyond the memory of {}; expected a lower "
                  "workload.buffer_base, or a larger host.memory.size",
                  size_text(workload.buffer_base), size_text(config.host.memory.size));
    return;  // its lines name its addresses: check_traces
  }
  const Bytes memory = config.host.memory.size;
  const Bytes room = workload.buffer_base < memory ? memory - workload.buffer_base : 0;
  broken.add_if(
      workload.domains > room / workload.buffer_size,
      {"workload.buffer_base", "workload.buffer_size", "workload.domains", "host.memory.size"},
      "{} buffers of {} from {} on end beyond the memory of {}; expected a larger "
      "host.memory.size, or smaller or fewer buffers",
      workload.domains, size_text(workload.buffer_size), size_text(workload.buffer_base),
      size_text(memory));
  broken.add_if(
      workload.sizes.empty() && workload.payload > workload.buffer_size,
      {"workload.payload", "workload.buffer_size"},
      "requests of {} in a buffer of {}; expected workload.buffer_size of at least one request",
      size_text(workload.payload), size_text(workload.buffer_size));
  broken.add_if(!workload.sizes.empty() && workload.size_cap > workload.buffer_size,
                {"workload.sizes", "workload.size_cap", "workload.buffer_size"},
                "messages of up to {} in a buffer of {}; expected workload.size_cap up to "
                "workload.buffer_size",
                size_text(workload.size_cap), size_text(workload.buffer_size));
}

/// A switch sends what lies in a BAR below it there. [LNK-13.1]
void check_memory(const Config& config, bool has_switch, BrokenRelations& broken) {
  broken.add_if(has_switch && config.host.memory.size > kFirstBar,
                {"host.memory.size", "system.topology"},
                "a memory of {} over the BARs of devices, which begin at {}; expected "
                "host.memory.size up to {} where there is a switch",
                size_text(config.host.memory.size), size_text(kFirstBar), size_text(kFirstBar));
}

/// Buffers of domains are whole pages.
constexpr Bytes kBufferUnit = 4096;

void check_workload(const Config& config, BrokenRelations& broken) {
  const auto& workload = config.workload;
  const bool has_buffers =
      workload.kind != WorkloadKind::kTrace && workload.kind != WorkloadKind::kHostile;
  const auto check_pages = [&](const char* path, Bytes value) {
    broken.add_if(has_buffers && value % kBufferUnit != 0, {path},
                  "{} of a buffer in pages; expected a multiple of {}", size_text(value),
                  size_text(kBufferUnit));
  };
  check_pages("workload.buffer_size", workload.buffer_size);
  check_pages("workload.buffer_base", workload.buffer_base);
  const auto& granted = config.host.dhi.granted;
  broken.add_if(workload.kind == WorkloadKind::kTrace && workload.trace.empty(),
                {"workload.kind", "workload.trace"},
                "kind trace without a trace; expected workload.trace with the path of a CSV file");
  broken.add_if(
      workload.domain_choice == DomainChoice::kWorkingSet &&
          workload.working_set > workload.domains,
      {"workload.domain_choice", "workload.working_set", "workload.domains"},
      "a working set of {} out of {} domains; expected workload.working_set up to workload.domains",
      workload.working_set, workload.domains);
  broken.add_if(workload.kind == WorkloadKind::kFlows && workload.via != WorkloadVia::kRdma,
                {"workload.kind", "workload.via"},
                "flows by {}; expected workload.via rdma, or another kind", spelling(workload.via));
  broken.add_if(workload.kind == WorkloadKind::kHostile && config.link.carrier != Carrier::kPcie,
                {"workload.kind", "link.carrier"},
                "hostile TLPs on the bit-packed carrier; expected link.carrier pcie");
  broken.add_if(granted.first_pasid > granted.last_pasid,
                {"host.dhi.granted.first_pasid", "host.dhi.granted.last_pasid"},
                "PASIDs {} to {}; expected host.dhi.granted.last_pasid of at least {}",
                granted.first_pasid, granted.last_pasid, granted.first_pasid);
}

/// A run that waits for nothing would be over with its first look.
void check_end(const Config& config, BrokenRelations& broken) {
  broken.add_if(config.run.until == RunUntil::kConverged && config.run.converged.figures == 0,
                {"run.converged.figures", "run.until"},
                "no figure that is to be known; expected one or more, such as "
                "[up_goodput_gbps]");
}

void check_translation(const Config& config, BrokenRelations& broken) {
  const Translation translation = config.iommu.translation;
  broken.add_if(
      translation != Translation::kOff && config.workload.kind == WorkloadKind::kTrace,
      {"iommu.translation", "workload.kind"},
      "translation of a trace, whose addresses nobody has mapped; expected iommu.translation off");
  const auto& driver = config.host.iommu_driver;
  if (!driver.enabled) {
    return;
  }
  broken.add_if(translation != Translation::kFirstStage && translation != Translation::kSecondStage,
                {"host.iommu_driver.enabled", "iommu.translation"},
                "a driver that maps pages with translation {}; expected iommu.translation "
                "first_stage or second_stage",
                spelling(translation));
  constexpr Bytes kLargestPermitted = Bytes{2} << 20;
  broken.add_if(
      config.iommu.secure_ats && config.iommu.page > kLargestPermitted,
      {"host.iommu_driver.enabled", "iommu.secure_ats", "iommu.page"},
      "a driver that permits 4 KiB at a time, of pages of {}; expected iommu.page of at most 2MiB",
      size_text(config.iommu.page));
  broken.add_if(driver.teardown_rate > 0 && config.link.carrier != Carrier::kPcie,
                {"host.iommu_driver.teardown_rate", "link.carrier"},
                "contexts that end on the bit-packed carrier; expected link.carrier pcie");
  broken.add_if(
      driver.teardown_reset && workload_functions(config.device).size() < config.workload.domains,
      {"host.iommu_driver.teardown_reset", "device.functions.count", "workload.functions",
       "workload.domains"},
      "a reset of functions that {} domains share; expected device.functions.count of at "
      "least workload.domains",
      config.workload.domains);
}

/// The registers of the ring lie in the plain ones of BAR 0, in front of the MSI-X table.
void check_ring(const Config& config, BrokenRelations& broken) {
  constexpr Bytes kLeastBar = Bytes{32} << 10;
  broken.add_if(config.device.ring.memory > 0 && config.device.functions.bar_size < kLeastBar,
                {"device.ring.memory", "device.functions.bar_size"},
                "a descriptor ring in a BAR 0 of {}; expected device.functions.bar_size of at "
                "least {}",
                size_text(config.device.functions.bar_size), size_text(kLeastBar));
}

/// Shapes of caches, and what goes with a cache of translations in the device.
void check_caches(const Config& config, BrokenRelations& broken) {
  const auto check = [&](const std::string& name, const CacheConfig& cache) {
    broken.add_if(cache.ways != 0 && cache.entries % cache.ways != 0,
                  {name + ".entries", name + ".ways"},
                  "{} entries in sets of {}; expected {}.ways that divide them", cache.entries,
                  cache.ways, name);
  };
  check("iommu.context_cache", config.iommu.context_cache);
  check("iommu.pasid_cache", config.iommu.pasid_cache);
  check("iommu.iotlb", config.iommu.iotlb);
  check("iommu.paging_cache", config.iommu.paging_cache);
  check("iommu.second_stage_cache", config.iommu.second_stage_cache);
  check("iommu.permission_cache", config.iommu.permission_cache);
  const AtcConfig& atc = config.device.atc;
  check("device.atc", atc);
  // [PRI-19]
  broken.add_if(config.device.pri.enabled && !atc.enabled,
                {"device.pri.enabled", "device.atc.enabled"},
                "page requests without ATS; expected device.atc.enabled: true");
  if (!atc.enabled) {
    return;
  }
  broken.add_if(config.link.carrier != Carrier::kPcie, {"device.atc.enabled", "link.carrier"},
                "ATS on the bit-packed carrier; expected link.carrier pcie");
  broken.add_if(config.workload.at == At::kTranslated, {"device.atc.enabled", "workload.at"},
                "a cache of translations for addresses that are translated already; expected "
                "workload.at untranslated, or translated_pasid where hits shall have their PASID");
  constexpr unsigned kSmallestPage = 12;
  const Bytes unit = Bytes{1} << (kSmallestPage + atc.stu);
  // [CFG-05]
  broken.add_if(config.iommu.translation != Translation::kOff && unit > config.iommu.page,
                {"device.atc.stu", "iommu.page"},
                "a smallest translation unit of {} above pages of {}; expected device.atc.stu so "
                "that no page is smaller",
                size_text(unit), size_text(config.iommu.page));
}

}  // namespace

BrokenRelations broken_relations(const Config& config, const TopologyFacts& topology) {
  BrokenRelations broken;
  if (config.network.mode == NetworkMode::kPacket) {  // nothing else is read
    for (NetworkComplaint& one : network_complaints(config)) {
      broken.push_back({std::move(one.paths), std::move(one.message)});
    }
    return broken;
  }
  check_domains(config, broken);
  check_form(config, topology.has_switch, broken);
  check_tags(config, broken);
  check_credits(config, broken);
  check_shared_credits(config, broken);
  check_units(config, broken);
  check_flit_mode(config, broken);
  check_cxl(config, topology, broken);
  check_pio(config, broken);
  check_ring(config, broken);
  check_rdma(config, broken);
  check_bit_packed(config, topology.has_switch, broken);
  check_buffers(config, broken);
  check_memory(config, topology.has_switch, broken);
  check_workload(config, broken);
  check_end(config, broken);
  check_patience(config, broken);
  check_duration(config, broken);
  check_translation(config, broken);
  check_caches(config, broken);
  return broken;
}

}  // namespace flitwise::config
