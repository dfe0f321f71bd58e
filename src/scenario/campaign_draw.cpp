// SPDX-License-Identifier: Apache-2.0
// What random cases share.
#include "scenario/campaign_draw.h"

#include <fmt/format.h>

#include <algorithm>

#include "flitwise/error.h"

namespace flitwise::scenario {
namespace {

constexpr unsigned kMostFaults = 5;

}  // namespace

void put(std::vector<std::string>& sets, const std::string& set) {
  const std::string key = set.substr(0, set.find('=') + 1);
  sets.erase(std::remove_if(sets.begin(), sets.end(),
                            [&](const std::string& one) { return one.rfind(key, 0) == 0; }),
             sets.end());
  sets.push_back(set);
}

CampaignDraw::CampaignDraw(std::uint64_t seed, const Random& random) : random_(random) {
  case_.id = fmt::format("campaign/{}", seed);
  case_.title = fmt::format("Random machine, traffic and faults of seed {}", seed);
  case_.cites = {"campaign"};  // no rule of docs/rules: it proves none
  case_.file = case_.id;
  set("run.seed", std::to_string(seed));
}

unsigned CampaignDraw::draw_wire_faults(const std::vector<std::string>& links,
                                        const std::vector<std::string>& units) {
  const unsigned drawn = below(kMostFaults + 1);
  for (unsigned faults = drawn; faults > 0; --faults) {
    Json op = {{"op", "fault"}};
    op["direction"] = one_of("up", "down");
    op["do"] = one_of("corrupt", "drop", "duplicate", "delay");
    op["unit"] = units[below(static_cast<unsigned>(units.size()))];
    op["nth"] = std::to_string(1 + below(40));
    op["count"] = std::to_string(1 + below(4));
    op["may_miss"] = true;
    op["link"] = links[below(static_cast<unsigned>(links.size()))];
    if (op["do"] == "delay") {
      op["by"] = one_of("50ns", "1us", "20us");
    }
    step(std::move(op));
  }
  return drawn;
}

}  // namespace flitwise::scenario
