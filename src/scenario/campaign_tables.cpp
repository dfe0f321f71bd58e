// SPDX-License-Identifier: Apache-2.0
// What random cases draw of translation: tables, the driver, wrong answers, and writes by two ways.
#include <fmt/format.h>

#include <iterator>

#include "scenario/campaign_draw.h"

namespace flitwise::scenario {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kFrame = 5 * kGiB;  // the page of all mapped writes; tables are at 64 MiB
constexpr std::uint64_t kVirtual = 256 * kGiB, kGuest = 512 * kGiB;  // where no BAR is
constexpr unsigned kProcesses = 4;  // each with a quarter of the page
constexpr unsigned kAliases = 3;    // addresses of that page that a process has
constexpr unsigned kPlace = 128;    // bytes of a write at most: MPS
constexpr unsigned kMostWrites = 30;
constexpr unsigned kMostAnswers = 6;

struct PageSize {
  const char* text;
  unsigned bytes;
};
constexpr PageSize kPages[] = {{"4KiB", 1U << 12}, {"2MiB", 1U << 21}, {"1GiB", 1U << 30}};

}  // namespace

void CampaignDraw::draw_agent_caches() {
  set("iommu.iotlb.entries", one_of("none", "4", "64"));
  set("iommu.iotlb.ways", "full");
  set("iommu.walkers", one_of("1", "4"));
}

void CampaignDraw::draw_translation(const std::vector<std::string>& stages, bool has_room) {
  set("iommu.translation", pick(stages));
  const PageSize& page = kPages[below(has_room ? std::size(kPages) : std::size(kPages) - 1)];
  set("iommu.page", page.text);
  if (page.bytes == kGiB) {
    set("workload.buffer_base", page.text);  // above the page with software's own tables
  }
  draw_agent_caches();
}

void CampaignDraw::draw_driver() {
  const bool is_large = below(2) == 0;
  set("iommu.translation", one_of("first_stage", "second_stage"));
  set("iommu.page", is_large ? "2MiB" : "4KiB");
  set("workload.buffer_size", is_large ? "8MiB" : "16KiB");
  draw_agent_caches();
  const std::string driver = "host.iommu_driver.";
  set(driver + "enabled", "true");
  set(driver + "mode", one_of("strict", "deferred"));
  set(driver + "batch", one_of("1", "16"));
  set(driver + "unmap_rate", one_of("1e5", "1e6", "5e6"));
  set(driver + "unmap_pages", one_of("1", "4"));
  set(driver + "remap_after", one_of("1us", "20us"));
  set(driver + "premapped", one_of("0.1", "0.5", "1"));
  set(driver + "map_latency", one_of("500ns", "5us"));
  set(driver + "refuse_fraction", one_of("0", "0.1"));
  set("device.atc.enabled", "true");
  set("device.atc.entries", one_of("4", "64"));
  set("device.atc.ways", "full");
  set("device.pri.enabled", one_of("true", "true", "false"));
  set("device.pri.response_pasid", one_of("true", "false"));
}

void CampaignDraw::draw_wrong_answers(const std::string& port, unsigned function) {
  for (unsigned answers = below(kMostAnswers); answers > 0; --answers) {
    step({{"op", "run"}, {"for", one_of("100ns", "1us", "5us")}});
    const unsigned index = 256 + below(256);  // the device takes the lowest that is free
    Json tlp = {{"type", "Msg"},
                {"requester_id", "00:00.0"},
                {"routing", "by_id"},
                {"message_code", 5},
                {"message_dw2", function << 16 | below(2) << 12 | index}};
    if (below(2) == 0) {
      tlp["pasid"] = below(64);
    }
    step({{"op", "tlp"}, {"port", port}, {"tlp", std::move(tlp)}});
  }
}

void CampaignDraw::draw_mapped_writes(const std::string& port, const std::string& bdf) {
  const PageSize page = kPages[below(std::size(kPages))];
  const std::string stage = one_of("first", "second", "nested", "nested");
  draw_agent_caches();
  struct {
    std::uint64_t place;
    unsigned bytes;
    std::string last;
  } processes[kProcesses];
  const auto base = [](unsigned process, unsigned alias) {
    return (process * kAliases + alias) * kGiB;
  };
  for (unsigned p = 0; p < kProcesses; ++p) {
    processes[p].place = p * (page.bytes / kProcesses) + kPlace * below(page.bytes / 4 / kPlace);
    processes[p].bytes = 4 * (1 + below(kPlace / 4));
    for (unsigned alias = 0; alias < kAliases; ++alias) {
      Json map = {{"op", "map"},
                  {"rid", bdf},
                  {"pasid", p + 1},
                  {"did", p + 1},
                  {"stage", stage},
                  {"page", page.text},
                  {"address", fmt::format("{:#x}", kVirtual + base(p, alias))},
                  {"to", fmt::format("{:#x}", kFrame)}};
      if (stage == "nested") {
        map["via"] = fmt::format("{:#x}", kGuest + base(p, alias));
      }
      step(std::move(map));
    }
  }
  step({{"op", "translate"}, {"state", "on"}});
  for (unsigned writes = 1 + below(kMostWrites); writes > 0; --writes) {
    const unsigned p = below(kProcesses);
    processes[p].last = pattern(processes[p].bytes);
    step({{"op", "tlp"},
          {"port", port},
          {"tlp",
           {{"type", "MWr"},
            {"requester_id", bdf},
            {"pasid", p + 1},
            {"ido", below(2) == 0},
            {"address",
             fmt::format("{:#x}", kVirtual + base(p, below(kAliases)) + processes[p].place)},
            {"payload", processes[p].last}}}});
  }
  for (const auto& process : processes) {
    if (!process.last.empty()) {
      expect_memory(kFrame + process.place, process.last);
    }
  }
  forbid("error");
  forbid("fault");
}

}  // namespace flitwise::scenario
