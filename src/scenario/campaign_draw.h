// SPDX-License-Identifier: Apache-2.0
/// What the random cases of campaigns share: settings, steps, and faults of the wire.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/random.h"
#include "scenario/scenario.h"

namespace flitwise::scenario {

/// Sets a key; a later setting takes the place of the one before it.
void put(std::vector<std::string>& sets, const std::string& set);

class CampaignDraw {
 protected:
  CampaignDraw(std::uint64_t seed, const Random& random);

  unsigned below(unsigned bound) { return static_cast<unsigned>(random_.below(bound)); }
  unsigned place_in(const std::vector<std::string>& all) {
    return below(static_cast<unsigned>(all.size()));
  }
  const std::string& pick(const std::vector<std::string>& all) { return all[place_in(all)]; }
  template <class... Words>
  std::string one_of(Words... words) {
    return pick({words...});
  }
  void set(const std::string& key, const std::string& value) { put(case_.sets, key + "=" + value); }
  void forbid(const std::string& event) {
    case_.never.push_back(EventPattern::of(case_.place, {{"event", event}}));
  }
  void step(Json op) { case_.steps.push_back({case_.place, std::nullopt, std::move(op)}); }
  /// In flits of 256 bytes, or of 68.
  void draw_cxl_preset(bool is_long);
  /// Some faults of the wires of `links`, each of one of `units`; how many.
  unsigned draw_wire_faults(const std::vector<std::string>& links,
                            const std::vector<std::string>& units);

  Random random_;
  Case case_;
};

/// A random case of CXL.mem or CXL.cache: one or two memory expanders, or up to three devices whose
/// caches want the same lines, under random faults of the wire; now and then a link goes down.
/// `random` is the stream to draw from.
Case campaign_cxl_case(std::uint64_t seed, const Random& random);

}  // namespace flitwise::scenario
