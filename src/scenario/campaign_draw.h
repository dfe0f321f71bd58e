// SPDX-License-Identifier: Apache-2.0
/// What the random cases of campaigns share: settings, steps, and faults of the wire.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "scenario/scenario.h"
#include "workload/random.h"

namespace flitwise::scenario {

/// Sets a key; a later setting takes the place of the one before it.
void put(std::vector<std::string>& sets, const std::string& set);

class CampaignDraw {
 protected:
  CampaignDraw(std::uint64_t seed, const Random& random);

  unsigned below(unsigned bound) { return static_cast<unsigned>(random_.below(bound)); }
  template <class... Words>
  std::string one_of(Words... words) {
    const std::vector<std::string> all{words...};
    return all[below(static_cast<unsigned>(all.size()))];
  }
  void set(const std::string& key, const std::string& value) { put(case_.sets, key + "=" + value); }
  void forbid(const std::string& event);
  void step(Json op) { case_.steps.push_back({case_.place, std::nullopt, std::move(op)}); }
  static ValueTest word(const std::string& text);
  /// Some faults of the wires of `links`, each of one of `units`; how many.
  unsigned draw_wire_faults(const std::vector<std::string>& links,
                            const std::vector<std::string>& units);

  Random random_;
  Case case_;
};

}  // namespace flitwise::scenario
