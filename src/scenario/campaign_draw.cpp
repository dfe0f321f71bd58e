// SPDX-License-Identifier: Apache-2.0
// What random cases share, and those of CXL.mem and CXL.cache.
#include "scenario/campaign_draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/range/algorithm_ext/erase.hpp>

#include "flitwise/error.h"

namespace flitwise::scenario {
namespace {

class CxlDraw : private CampaignDraw {
 public:
  CxlDraw(std::uint64_t seed, const Random& random) : CampaignDraw(seed, random) {}

  Case made() {
    const bool is_mem = below(2) == 0;
    draw_link();
    draw_devices(is_mem ? 2 : 3);
    if (!is_mem) {
      draw_cache();
      if (below(3) == 0) {
        draw_pages();
      }
    } else if (is_long_ && below(2) == 0) {
      draw_hdm_db();
    } else {
      draw_mem();
    }
    set("workload.kind", one_of("posted_write", "posted_write", "read", "read_write"));
    set("workload.payload", one_of("4B", "64B", "100B", "512B"));
    set("workload.placement", one_of("ring", "random"));
    set("workload.requests", std::to_string(20 + below(1000)));
    // In 68-byte flits messages and control flits, LLCRD and RETRY, are no units of their own.
    draw_wire_faults(links_, is_long_
                                 ? std::vector<std::string>{"any", "flit", "dllp", "dllp", "tlp"}
                                 : std::vector<std::string>{"flit"});
    draw_run();
    if (!is_mem) {
      draw_domains();  // behind all else: what a seed drew before these came is what it draws now
    }
    if (!may_err_) {
      forbid("error");
    }
    forbid("violation");
    return std::move(case_);
  }

 private:
  void draw_link() {
    is_long_ = below(2) == 0;
    draw_cxl_preset(is_long_);
    if (is_long_) {
      set("link.cxl.latency_optimised", one_of("true", "false"));
    } else {
      set("link.cxl.retry_flits", one_of("16", "64", "255"));
    }
    set("link.cxl.req_credits", one_of("1", "8", "64"));
    set("link.cxl.rsp_credits", one_of("1", "8", "64"));
    set("link.cxl.data_credits",
        one_of("1", "1", "8", "64"));  // one: a credit that is lost is felt
    set("link.cxl.queue_depth", one_of("1", "4", "64"));
    set("link.cxl.cachemem_weight", one_of("1", "4"));
    if (below(2) == 0) {
      set("link.error_rate", one_of("1e-7", "1e-5", "1e-4"));
    }
  }

  void draw_devices(unsigned most) {
    const unsigned devices = 1 + below(most);
    set("system.devices", std::to_string(devices));
    for (unsigned i = 0; i < devices; ++i) {
      links_.push_back(fmt::format("rp{0}-ep{0}", i));
    }
  }

  void draw_mem() {
    set("device.cxl.memory", "8GiB");
    set("workload.via", "cxl_mem");
    set("workload.domains", one_of("1", "5"));
    set("host.cxl_mem.outstanding", one_of("1", "16", "256"));
    set("device.cxl.timing.latency", one_of("10ns", "80ns", "1us"));
  }

  // Few lines, so that host and device have them from each other.
  void draw_hdm_db() {
    set("device.cxl.memory", "8GiB");
    set("device.cxl.coherence", "hdm_db");
    set("device.cxl.own_cache.size", one_of("512B", "4KiB"));
    set("device.cxl.own_cache.ways", one_of("1", "4"));
    set("device.cxl.own_cache.snoops", one_of("1", "64"));
    set("host.cxl_mem.cache.size", one_of("512B", "4KiB"));
    set("host.cxl_mem.cache.ways", one_of("1", "4"));
    set("host.cxl_mem.read", one_of("shared", "any", "current"));
    set("host.cxl_mem.outstanding", one_of("2", "16", "256"));
    set("workload.via", one_of("cxl_mem", "cxl_own", "cxl_both", "cxl_both"));
    set("workload.buffer_size", one_of("4KiB", "64KiB"));
  }

  // Few lines, so that caches have them from each other.
  void draw_cache() {
    set("device.cxl.cache.size", one_of("512B", "4KiB"));
    set("device.cxl.cache.ways", one_of("1", "4"));
    set("device.cxl.cache.requests", one_of("2", "16", "256"));
    set("device.cxl.cache.read", one_of("shared", "any", "current"));
    set("device.cxl.cache.write", one_of("own", "through", "posted"));
    set("device.cxl.cache.offers_clean_evictions", one_of("true", "false"));
    set("host.cxl_cache.pulls_clean_evictions", one_of("true", "false"));
    set("link.cxl.identity", one_of("spec", "full_added", "dhi_added"));
    set("link.cxl.handle_bits", one_of("0", "8", "32"));
    domains_ = pick_number({1, 3, 8});
    set("workload.domains", std::to_string(domains_));
    set("device.dhi.bits", one_of("2", "8"));
    set("device.dhi.alloc_order", one_of("flush", "ack"));
    set("device.dhi.on_miss", one_of("stall", "bypass"));
    set("workload.via", "cxl_cache");
    set("workload.buffer_size", one_of("4KiB", "64KiB"));
    if (below(4) == 0) {
      set("device.cxl.memory", "8GiB");  // a device of type 2
    }
  }

  // Lines by translations of their device, which the home checks; half of the time a driver takes
  // pages back, so that requests may fail. [CXL-7.11] [CXL-7.12]
  void draw_pages() {
    has_pages_ = true;
    loses_pages_ = below(2) == 0;
    set("iommu.translation", one_of("first_stage", "second_stage"));
    set("iommu.secure_ats", one_of("true", "true", "false"));
    set("iommu.permission_cache.entries", one_of("none", "4", "256"));
    set("iommu.permission_cache.ways", "full");
    set("device.atc.enabled", "true");
    set("device.atc.entries", one_of("4", "64"));
    set("device.atc.ways", "full");
    if (loses_pages_) {
      const std::string driver = "host.iommu_driver.";
      set(driver + "enabled", "true");
      set(driver + "mode", one_of("strict", "deferred"));
      set(driver + "unmap_rate", one_of("1e5", "1e6"));
      set(driver + "unmap_pages", one_of("1", "4"));
      set(driver + "remap_after", one_of("1us", "20us"));
      set("workload.buffer_size", "16KiB");
    }
  }

  // Nothing breaks a rule; what a link that goes down takes along is counted. Software that waits
  // for a device keeps its link up.
  void draw_run() {
    step({{"op", "start"}});
    may_err_ = loses_pages_ || (!has_pages_ && below(4) == 0);
    if (may_err_ && !loses_pages_) {
      step({{"op", "run"}, {"for", one_of("300ns", "1us", "5us")}});
      const unsigned port = place_in(links_);
      step({{"op", "reset"}, {"kind", "link_down"}, {"bdf", fmt::format("00:{:02x}.0", port + 1)}});
    }
    step({{"op", "run"}, {"until", "idle"}});
  }

  // What a domain is, how its handle ends, and which of them the host lets the device name. The
  // driver treats each domain as a process.
  void draw_domains() {
    const std::string dealloc = one_of("implicit", "explicit");
    set("device.dhi.dealloc", dealloc);
    set("host.dhi.dealloc", dealloc);
    unsigned per_process = 1;
    if (!loses_pages_ && below(2) == 0) {
      per_process = pick_number({1, 2, 4});
      set("workload.contexts.kind",
          one_of("queue_pair", "dedicated_work_queue", "shared_work_queue", "work_command"));
      set("workload.contexts.per_process", std::to_string(per_process));
      set("device.dhi.contexts", one_of("own", "own", "shared"));
    }
    if (below(2) == 0) {
      draw_grants((domains_ - 1) / per_process, per_process);
    }
  }

  // Half of the time all that the workload has. Whoever is left out is refused, and counted.
  // [DHI S3]
  void draw_grants(unsigned last_pasid, unsigned contexts) {
    const std::string granted = "host.dhi.granted.";
    set("host.dhi.grant", "configured");
    unsigned first = 0;
    if (below(2) == 0) {
      may_err_ = true;
      first = below(2);
      last_pasid = std::max(first, last_pasid - std::min(last_pasid, below(2)));
      contexts = below(contexts + 1);
      set(granted + "without_pasid", one_of("true", "false"));
    }
    set(granted + "first_pasid", std::to_string(first));
    set(granted + "last_pasid", std::to_string(last_pasid));
    set(granted + "contexts", contexts == 0 ? "none" : std::to_string(contexts));
  }

  unsigned pick_number(const std::vector<unsigned>& all) {
    return all[below(static_cast<unsigned>(all.size()))];
  }

  std::vector<std::string> links_;
  unsigned domains_ = 1;  // of CXL.cache
  bool is_long_ = false;  // 256-byte flits
  bool has_pages_ = false, loses_pages_ = false;
  bool may_err_ = false;  // something may be refused, or lost
};

constexpr unsigned kMostFaults = 5;

}  // namespace

Case campaign_cxl_case(std::uint64_t seed, const Random& random) {
  return CxlDraw(seed, random).made();
}

void put(std::vector<std::string>& sets, const std::string& set) {
  const std::string key = set.substr(0, set.find('=') + 1);
  boost::range::remove_erase_if(sets,
                                [&](const std::string& one) { return one.rfind(key, 0) == 0; });
  sets.push_back(set);
}

CampaignDraw::CampaignDraw(std::uint64_t seed, const Random& random) : random_(random) {
  case_.id = fmt::format("campaign/{}", seed);
  case_.title = fmt::format("Random machine, traffic and faults of seed {}", seed);
  case_.cites = {"campaign"};  // no rule of docs/rules: it proves none
  case_.file = case_.id;
  set("run.seed", std::to_string(seed));
}

void CampaignDraw::draw_cxl_preset(bool is_long) {
  set("link.preset", is_long ? one_of("cxl256_gen6x1", "cxl256_gen6x4", "cxl256_gen6x16")
                             : one_of("cxl68_gen3x4", "cxl68_gen4x8", "cxl68_gen5x16"));
}

unsigned CampaignDraw::draw_wire_faults(const std::vector<std::string>& links,
                                        const std::vector<std::string>& units) {
  const unsigned drawn = below(kMostFaults + 1);
  for (unsigned faults = drawn; faults > 0; --faults) {
    Json op = {{"op", "fault"}};
    op["direction"] = one_of("up", "down");
    op["do"] = one_of("corrupt", "drop", "duplicate", "delay");
    op["unit"] = pick(units);
    op["nth"] = std::to_string(1 + below(40));
    op["count"] = std::to_string(1 + below(4));
    op["may_miss"] = true;
    op["link"] = pick(links);
    if (op["do"] == "delay") {
      op["by"] = one_of("50ns", "1us", "20us");
    }
    step(std::move(op));
  }
  return drawn;
}

std::string CampaignDraw::pattern(unsigned bytes) {
  std::string hex;
  for (unsigned i = 0; i < bytes; ++i) {
    hex += fmt::format("{:02x}", below(256));
  }
  return hex;
}

void CampaignDraw::expect_memory(std::uint64_t address, const std::string& hex) {
  case_.final_checks.push_back(
      {case_.place,
       {{"op", "peek"}, {"addr", fmt::format("{:#x}", address)}, {"bytes", hex.size() / 2}},
       EventPattern::of(case_.place, {{"event", "memory"}, {"hex", hex}})});
}

}  // namespace flitwise::scenario
