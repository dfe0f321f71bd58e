// SPDX-License-Identifier: Apache-2.0
// Random cases, and how a failing one is made small.
#include "scenario/campaign.h"

#include <fmt/format.h>

#include <algorithm>

#include "flitwise/error.h"
#include "workload/random.h"

namespace flitwise::scenario {
namespace {

constexpr unsigned kMostFaults = 5;
constexpr unsigned kMostTransfers = 12;
constexpr std::uint64_t kArea = 0x10'0000;     // DMA of a script goes here
constexpr std::uint64_t kAreaStep = 0x1'0000;  // apart, so that the outcome is known

// A later setting of a key takes the place of the one before it.
void put(std::vector<std::string>& sets, const std::string& set) {
  const std::string key = set.substr(0, set.find('=') + 1);
  sets.erase(std::remove_if(sets.begin(), sets.end(),
                            [&](const std::string& one) { return one.rfind(key, 0) == 0; }),
             sets.end());
  sets.push_back(set);
}

/// Draws one case.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {
    case_.id = fmt::format("campaign/{}", seed);
    case_.title = fmt::format("Random machine, traffic and faults of seed {}", seed);
    case_.cites = {"LNK-7.3"};
    case_.file = case_.id;
    set("run.seed", std::to_string(seed));
  }

  Case made() {
    const unsigned kind = below(6);
    draw_topology();
    draw_link();
    draw_faults();
    if (kind == 0) {
      draw_hostile();
    } else if (kind == 1) {
      draw_transfers();
    } else if (kind == 2) {
      draw_resets();
    } else {
      draw_traffic();
    }
    EventPattern pattern;
    pattern.place = case_.place;
    pattern.fields.push_back({"event", word("violation")});
    case_.never.push_back(std::move(pattern));
    return std::move(case_);
  }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_.below(bound)); }
  template <class... Words>
  std::string one_of(Words... words) {
    const std::vector<std::string> all{words...};
    return all[below(static_cast<unsigned>(all.size()))];
  }
  unsigned device() { return below(static_cast<unsigned>(bdfs_.size())); }
  void set(const std::string& key, const std::string& value) { put(case_.sets, key + "=" + value); }
  void step(Json op) { case_.steps.push_back({case_.place, std::nullopt, std::move(op)}); }

  static ValueTest word(const std::string& text) {
    config::Value value;
    value.kind = config::Value::Kind::kScalar;
    value.text = text;
    config::ProblemList ignored;
    return ValueTest::read(value, "", ignored);
  }

  // One device, two at root ports of their own, or two below a switch.
  void draw_topology() {
    const unsigned topology = below(4);
    if (topology < 2) {
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

  void draw_link() {
    set("link.preset", one_of("gen1x8", "gen2x8", "gen3x8", "gen4x16", "gen5x16"));
    set("link.mps", one_of("128B", "256B", "512B"));
    set("link.mrrs", one_of("128B", "512B", "4096B"));
    set("link.rcb", one_of("64B", "128B"));
    set("link.ack_coalesce", one_of("0", "1", "4"));
    set("link.relaxed_passing", one_of("never", "when_blocked", "eager"));
    const bool is_infinite = below(3) == 0;  // both or neither
    set("link.credits.posted_headers", is_infinite ? "infinite" : one_of("4", "32"));
    set("link.credits.posted_data", is_infinite ? "infinite" : one_of("64", "256"));
    set("link.credits.nonposted_headers", one_of("2", "64"));
    if (below(2) == 0) {
      set("link.error_rate", one_of("1e-7", "1e-5", "1e-4"));
    }
  }

  void draw_faults() {
    for (unsigned faults = below(kMostFaults + 1); faults > 0; --faults) {
      Json op = {{"op", "fault"},
                 {"direction", one_of("up", "down")},
                 {"do", one_of("corrupt", "drop", "duplicate", "delay")},
                 {"unit", one_of("any", "tlp", "dllp", "MWr", "CplD", "Ack", "Nak", "UpdateFC")},
                 {"nth", std::to_string(1 + below(40))},
                 {"count", std::to_string(1 + below(4))},
                 {"may_miss", true}};
      op["link"] = links_[below(static_cast<unsigned>(links_.size()))];
      if (op["do"] == "delay") {
        op["by"] = one_of("50ns", "1us", "20us");
      }
      step(std::move(op));
    }
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
    const bool has_switch = links_.size() > bdfs_.size();
    set("link.dhi_form", one_of(has_switch ? "rid_fabric" : "rid_direct", "tag", "prefix"));
  }

  void draw_traffic() {
    if (below(2) == 0) {
      draw_handles();
    }
    set("workload.kind", one_of("posted_write", "read", "read_write"));
    set("workload.payload", one_of("4B", "64B", "1500B", "4096B"));
    set("workload.domains", one_of("1", "5", "40"));
    set("workload.domain_choice", one_of("round_robin", "uniform", "zipf"));
    set("workload.requests", std::to_string(20 + below(200)));
    set("device.dma.relaxed_ordering", one_of("true", "false"));
    set("device.dma.id_based_ordering", one_of("true", "false"));
    step({{"op", "start"}});
    step({{"op", "run"}, {"until", "idle"}});
  }

  void draw_hostile() {
    if (below(2) == 0) {
      draw_handles();
    }
    set("workload.kind", "hostile");
    set("link.credits.posted_headers", "8");  // any TLP has to fit
    set("link.credits.posted_data", "1024");
    set("link.credits.nonposted_data", "1024");
    set("workload.requests", std::to_string(50 + below(500)));
    step({{"op", "start"}});
    step({{"op", "run"}, {"until", "idle"}});
  }

  // Devices are reset amid traffic; software lets them go on, and what they transfer then arrives.
  void draw_resets() {
    set("workload.kind", one_of("posted_write", "read", "read_write"));
    set("workload.requests", std::to_string(200 + below(400)));
    step({{"op", "start"}});
    for (unsigned resets = 1 + below(3); resets > 0; --resets) {
      step({{"op", "run"}, {"for", one_of("100ns", "1us", "3us")}});
      const std::string bdf = bdfs_[device()];
      step({{"op", "reset"}, {"kind", "flr"}, {"bdf", bdf}});
      step({{"op", "cfg_write"},  // Memory Space and Bus Master Enable
            {"bdf", bdf},
            {"offset", "4"},
            {"bytes", "2"},
            {"value", "6"}});
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
        EventPattern data;
        data.place = case_.place;
        data.fields.push_back({"event", word("data")});
        data.fields.push_back({"hex", word(hex)});
        case_.expect.push_back({{std::move(data)}});
      }
      FinalCheck check{case_.place, {{"op", "peek"}, {"addr", at}, {"bytes", bytes}}, {}};
      check.expected.place = case_.place;
      check.expected.fields.push_back({"event", word("memory")});
      check.expected.fields.push_back({"hex", word(hex)});
      case_.final_checks.push_back(std::move(check));
    }
  }

  std::string pattern(unsigned bytes) {
    std::string hex;
    for (unsigned i = 0; i < bytes; ++i) {
      hex += fmt::format("{:02x}", below(256));
    }
    return hex;
  }

  Random random_;
  Case case_;
  std::vector<std::string> bdfs_{"01:00.0"};  // of the devices
  std::vector<std::string> links_{"rp0-ep0"};
};

/// Leaves out groups of one list, halving their size, as long as the case still fails.
template <class Member>
void thin(Case& one, Member member, const std::function<bool(const Case&)>& fails,
          unsigned& budget) {
  for (std::size_t group = std::max<std::size_t>(1, (one.*member).size() / 2); group > 0;
       group /= 2) {
    for (std::size_t at = 0; at < (one.*member).size() && budget > 0;) {
      Case less = one;
      auto& list = less.*member;
      const auto first = list.begin() + static_cast<std::ptrdiff_t>(at);
      list.erase(first, first + static_cast<std::ptrdiff_t>(std::min(group, list.size() - at)));
      --budget;
      if (fails(less)) {
        one = std::move(less);
      } else {
        at += group;
      }
    }
  }
}

}  // namespace

Case campaign_case(std::uint64_t seed, const std::vector<std::string>& sets) {
  Case one = Draw(seed).made();
  for (const std::string& set : sets) {
    put(one.sets, set);
  }
  return one;
}

Case shrunk(Case one, const std::function<bool(const Case&)>& fails, unsigned budget) {
  thin(one, &Case::expect, fails, budget);
  thin(one, &Case::final_checks, fails, budget);
  thin(one, &Case::steps, fails, budget);
  thin(one, &Case::sets, fails, budget);
  thin(one, &Case::steps, fails, budget);
  return one;
}

}  // namespace flitwise::scenario
