// SPDX-License-Identifier: Apache-2.0
// Random cases.
#include "scenario/campaign.h"

#include <fmt/format.h>

#include <iterator>

#include "scenario/campaign_draw.h"

namespace flitwise::scenario {
namespace {

constexpr unsigned kMostTransfers = 12;
constexpr unsigned kMostForged = 6;            // DLLPs, and handle messages
constexpr std::uint64_t kArea = 0x10'0000;     // DMA of a script goes here
constexpr std::uint64_t kAreaStep = 0x1'0000;  // apart, so that the outcome is known

/// Draws one case.
class Draw : private CampaignDraw {
 public:
  explicit Draw(std::uint64_t seed) : CampaignDraw(seed, Random(seed)) {}
  /// On a CXL link: all that CXL.io carries.
  Draw(std::uint64_t seed, const Random& random) : CampaignDraw(seed, random), is_cxl_(true) {}

  Case made() {
    constexpr void (Draw::*kKinds[])() = {
        &Draw::draw_beside_hostile, &Draw::draw_all_hostile, &Draw::draw_transfers,
        &Draw::draw_resets,         &Draw::draw_resets,      &Draw::draw_forged_dllps,
        &Draw::draw_traffic,        &Draw::draw_traffic,     &Draw::draw_traffic,
        &Draw::draw_unmaps,         &Draw::draw_writes,      &Draw::draw_writes};
    const unsigned kind = below(std::size(kKinds));
    draw_topology(kKinds[kind] == &Draw::draw_beside_hostile);
    draw_link();
    draw_faults();
    (this->*kKinds[kind])();
    forbid("violation");
    return std::move(case_);
  }

 private:
  bool has_switch() const { return links_.size() > bdfs_.size(); }
  unsigned device() { return place_in(bdfs_); }

  // One device, two at root ports of their own, or two below a switch.
  void draw_topology(bool has_neighbours) {
    const unsigned topology = below(4);
    if (topology < 2 && !has_neighbours) {
      return;
    }
    const bool has_switch = topology == 3;
    set("system.devices", "2");
    set("system.topology", has_switch ? "switch" : "direct");
    bdfs_[0] = has_switch ? "03:00.0" : "01:00.0";
    bdfs_.emplace_back(has_switch ? "04:00.0" : "02:00.0");
    links_.emplace_back(has_switch ? "sw0-ep1" : "rp1-ep1");
    if (has_switch) {
      links_[0] = "sw0-ep0";
      links_.emplace_back("rp0-sw0");
    }
  }

  void draw_preset() {
    if (is_cxl_) {
      has_flits_ = below(2) == 0;
      draw_cxl_preset(has_flits_);
      return;
    }
    has_flits_ = below(3) == 0;
    if (!has_flits_) {
      set("link.preset", one_of("gen1x8", "gen2x8", "gen3x8", "gen4x16", "gen5x16"));
    } else if (below(4) == 0) {
      set("link.preset", one_of("gen1x8", "gen4x4", "gen5x16"));
      set("link.flit_mode", "true");
    } else {
      set("link.preset", one_of("gen6x1", "gen6x4", "gen6x16"));
    }
  }

  void draw_shared_credits() {
    set("link.shared_credits.posted_headers", one_of("1", "16"));
    set("link.shared_credits.posted_data", one_of("8", "256"));
    set("link.shared_credits.nonposted_headers", one_of("0", "8"));
    if (below(2) == 0) {
      set("link.credits.completion_headers", "4");
      set("link.credits.completion_data", "64");
      set("link.shared_credits.merged", "true");
    }
  }

  void draw_link() {
    draw_preset();
    set("link.mps", one_of("128B", "256B", "512B"));
    set("link.mrrs", one_of("128B", "512B", "4096B"));
    set("link.rcb", one_of("64B", "128B"));
    set("link.ack_coalesce", one_of("0", "1", "4"));
    set("link.relaxed_passing", one_of("never", "when_blocked", "eager"));
    const bool is_infinite = below(3) == 0;  // both or neither
    set("link.credits.posted_headers", is_infinite ? "infinite" : one_of("4", "32"));
    set("link.credits.posted_data", is_infinite ? "infinite" : one_of("64", "256"));
    set("link.credits.nonposted_headers", one_of("2", "64"));
    if (has_flits_ && !is_infinite && below(3) == 0) {
      draw_shared_credits();
    }
    if (below(2) == 0) {
      set("link.error_rate", one_of("1e-7", "1e-5", "1e-4"));
      loses_tlps_ = true;
    }
  }

  void draw_faults() {
    const unsigned faults =
        draw_wire_faults(links_, {"any", "tlp", "flit", "MWr", "CplD", "dllp", "Ack", "Ack", "Nak",
                                  "UpdateFC", "UpdateFC-P", "NOP"});
    loses_tlps_ = loses_tlps_ || faults > 0;
  }

  void draw_handles() {
    set("link.identity", "dhi");
    set("device.dhi.bits", one_of("2", "3", "6"));
    set("device.dhi.on_miss", one_of("stall", "bypass"));
    set("device.dhi.alloc_order", one_of("flush", "ack"));
    set("device.dhi.victim", one_of("fifo", "lru", "lfu"));
    const std::string dealloc = one_of("implicit", "explicit");
    set("device.dhi.dealloc", dealloc);
    set("host.dhi.dealloc", dealloc);
    if (below(4) == 0) {
      set("device.dhi.management", "software");
    } else if (below(4) == 0) {
      set("device.dhi.allocate_at", "context_creation");
    }
    const char* const in_requester_id = has_switch() ? "rid_fabric" : "rid_direct";
    set("link.dhi_form",
        has_flits_ ? one_of(in_requester_id, "ohc") : one_of(in_requester_id, "tag", "prefix"));
  }

  // Of one process or of several, with 1, 5 or 40 domains.
  void draw_contexts() {
    if (below(3) == 0) {
      set("workload.contexts.kind",
          one_of("queue_pair", "dedicated_work_queue", "shared_work_queue", "work_command"));
      set("workload.contexts.per_process", one_of("1", "4", "64"));
      set("device.dhi.contexts", one_of("own", "own", "shared"));
    }
  }

  void draw_workload() {
    set("workload.kind", one_of("posted_write", "read", "read_write"));
    set("workload.payload", one_of("4B", "64B", "1500B", "4096B"));
    set("workload.domains", one_of("1", "5", "40"));
    set("workload.domain_choice", one_of("round_robin", "uniform", "zipf"));
    set("workload.requests", std::to_string(20 + below(200)));
    set("device.dma.relaxed_ordering", one_of("true", "false"));
    set("device.dma.id_based_ordering", one_of("true", "false"));
  }

  void draw_traffic() {
    if (below(2) == 0) {
      draw_handles();
      draw_contexts();
    }
    draw_workload();
    if (below(2) == 0) {
      draw_translation({"first_stage", "second_stage", "nested", "nested", "pass_through"}, true);
    }
    forbid("error");  // nothing breaks a rule
    start_and_finish();
  }

  // Pages come and go, so that requests may fail.
  void draw_unmaps() {
    draw_workload();
    draw_driver();
    const unsigned index = device();
    step({{"op", "start"}});
    draw_wrong_answers(has_switch() ? "rp0" : fmt::format("rp{}", index),
                       static_cast<unsigned>(std::stoul(bdfs_[index].substr(0, 2), nullptr, 16))
                           << 8);
    step({{"op", "run"}, {"until", "idle"}});
  }

  void draw_writes() {
    const unsigned index = device();
    draw_mapped_writes(fmt::format("ep{}", index), bdfs_[index]);
  }

  void start_and_finish() {
    step({{"op", "start"}});
    step({{"op", "run"}, {"until", "idle"}});
  }

  // Any TLP has to fit.
  void draw_room_for_any() {
    set("link.credits.posted_headers", "8");
    set("link.credits.posted_data", "1024");
    set("link.credits.nonposted_data", "1024");
  }

  void draw_all_hostile() {
    if (below(2) == 0) {
      draw_handles();
    }
    set("workload.kind", "hostile");
    draw_room_for_any();
    set("workload.requests", std::to_string(50 + below(500)));
    start_and_finish();
  }

  // ep0 attacks, ep1 works; everything that holds a device back is on. Side by side at root ports
  // it is a window of memory or page tables; below a switch, which both share, it is tables.
  void draw_beside_hostile() {
    draw_handles();
    draw_workload();
    draw_room_for_any();
    set("host.requester_check", "true");
    set("system.source_validation", "true");
    set("host.dhi.grant", "configured");
    set("host.dhi.granted.last_pasid", "63");
    set("host.dhi.granted.contexts", "4");
    set("host.dhi.check_capabilities", "true");  // no requests with AT 2
    set("host.dhi.table", one_of("per_device", "shared"));
    set("host.memory.size", "96MiB");
    set("workload.buffer_base", "16MiB");
    set("workload.buffer_size", "4KiB");
    set("device.functions.count", one_of("1", "2"));
    const std::string attacker = "system.instances.ep0.workload.";
    set(attacker + "kind", "hostile");
    set(attacker + "requests", std::to_string(100 + below(900)));
    set(attacker + "buffer_base", "8704KiB");  // half of its MiB below it, half above its end
    if (!has_switch()) {
      set("system.instances.rp0.host.dma_window.base", "8MiB");
      set("system.instances.rp0.host.dma_window.size", "1MiB");
    }
    if (has_switch() || below(3) == 0) {
      draw_translation({"first_stage", "second_stage", "nested", "nested"}, false);
    }
    draw_forged_handles();
    step({{"op", "start"}});
    // Not FLR, for which software looks at registers: the attacker may forge what they say.
    if (!has_switch() && below(3) == 0) {
      step({{"op", "run"}, {"for", one_of("100ns", "1us", "3us")}});
      draw_bus_reset(0);
    }
    forge_dllps(links_[0], {"up"});
    step({{"op", "run"}, {"until", "idle"}});
  }

  // Handle messages of ep0 about anybody's handles, before both start.
  void draw_forged_handles() {
    for (unsigned forged = below(kMostForged); forged > 0; --forged) {
      const bool is_alloc = below(3) != 0;
      Json op = {{"op", "dhi"},
                 {"port", "ep0"},
                 {"send", is_alloc ? "alloc" : "dealloc"},
                 {"dhi", std::to_string(below(64))},
                 {"rid", bdfs_[device()]},
                 {"bdf", bdfs_[device()]}};
      if (is_alloc) {
        op["pasid"] = std::to_string(below(128));
        op["trusted"] = below(4) == 0;
        if (below(4) == 0) {
          op["context"] = fmt::format("{} {}", one_of("queue_pair", "work_command"), below(512));
        }
      } else {
        op["scope"] = one_of("one", "range", "function", "all");
        op["upper"] = std::to_string(below(64));
      }
      step(std::move(op));
      step({{"op", "run"}, {"for", "500ns"}});
    }
  }

  // DLLPs that no rule asks for. Left out is what nothing can make good: an Ack or Nak that
  // acknowledges what may have been lost, and credits that are not there.
  void forge_dllps(const std::string& link, const std::vector<std::string>& directions) {
    for (unsigned forged = below(kMostForged); forged > 0; --forged) {
      step({{"op", "run"}, {"for", one_of("50ns", "300ns", "2us")}});
      Json dllp = {{"type", one_of("NOP", "PM_Enter_L1", "Vendor", "InitFC1-P")}};
      if (!loses_tlps_ && below(2) == 0) {
        dllp = {{"type", one_of("Ack", "Nak")},
                {"seq", std::to_string(below(2) == 0 ? below(4096) : below(400))}};
      }
      step({{"op", "dllp"},
            {"direction", pick(directions)},
            {"link", link},
            {"dllp", std::move(dllp)}});
    }
  }

  void draw_forged_dllps() {
    draw_workload();
    forbid("error");
    step({{"op", "start"}});
    forge_dllps(pick(links_), {"up", "down"});
    step({{"op", "run"}, {"until", "idle"}});
  }

  // Of one device, by itself or with its bus.
  void draw_reset(unsigned index) {
    if (!has_switch() && below(3) != 0) {
      draw_bus_reset(index);
      return;
    }
    step({{"op", "reset"}, {"kind", "flr"}, {"bdf", bdfs_[index]}});
    let_go_on(index);
  }

  void draw_bus_reset(unsigned index) {
    step({{"op", "reset"},
          {"kind", one_of("hot", "link_down", "link_down")},
          {"bdf", fmt::format("00:{:02x}.0", index + 1)}});
    let_go_on(index);
  }

  // Memory Space and Bus Master Enable.
  void let_go_on(unsigned index) {
    step({{"op", "cfg_write"},
          {"bdf", bdfs_[index]},
          {"offset", "4"},
          {"bytes", "2"},
          {"value", "6"}});
  }

  // Devices are reset amid traffic; software lets them go on, and what they transfer then arrives.
  void draw_resets() {
    set("workload.kind", one_of("posted_write", "read", "read_write"));
    set("workload.requests", std::to_string(200 + below(400)));
    step({{"op", "start"}});
    for (unsigned resets = 1 + below(3); resets > 0; --resets) {
      step({{"op", "run"}, {"for", one_of("100ns", "1us", "3us")}});
      draw_reset(device());
    }
    step({{"op", "run"}, {"until", "idle"}});
    draw_transfers();
  }

  // Writes and reads to places of their own: memory has to hold what was written last.
  void draw_transfers() {
    const unsigned transfers = 1 + below(kMostTransfers);
    for (unsigned i = 0; i < transfers; ++i) {
      const std::uint64_t address = kArea + i * kAreaStep + 4 * below(1024);
      const unsigned bytes = 4 * (1 + below(300));
      const std::string hex = pattern(bytes);
      const std::string at = fmt::format("{:#x}", address);
      const std::string port = fmt::format("ep{}", device());
      step({{"op", "dma"}, {"port", port}, {"kind", "write"}, {"addr", at}, {"hex", hex}});
      if (below(2) == 0) {
        step({{"op", "dma"},
              {"port", port},
              {"kind", "read"},
              {"addr", at},
              {"bytes", std::to_string(bytes)}});
        case_.expect.push_back(
            {{EventPattern::of(case_.place, {{"event", "data"}, {"hex", hex}})}});
      }
      expect_memory(address, hex);
    }
  }

  const bool is_cxl_ = false;
  bool loses_tlps_ = false;  // or may
  bool has_flits_ = false;
  std::vector<std::string> bdfs_{"01:00.0"};  // of the devices
  std::vector<std::string> links_{"rp0-ep0"};
};

// One seed in four has a CXL link; what the others draw depends on nothing that these do.
Case drawn(std::uint64_t seed) {
  Random cxl = Random(seed).split("cxl");
  if (cxl.below(4) != 0) {
    return Draw(seed).made();
  }
  return cxl.below(3) == 0 ? Draw(seed, cxl).made() : campaign_cxl_case(seed, cxl);
}

}  // namespace

Case campaign_case(std::uint64_t seed, const std::vector<std::string>& sets) {
  Case one = drawn(seed);
  for (const std::string& set : sets) {
    put(one.sets, set);
  }
  return one;
}

}  // namespace flitwise::scenario
