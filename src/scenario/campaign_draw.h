// SPDX-License-Identifier: Apache-2.0
/// What the random cases of campaigns share: settings, steps, faults of the wire, and translation.
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

  /// Random bytes, in hex.
  std::string pattern(unsigned bytes);
  /// Memory has to hold these bytes at the end.
  void expect_memory(std::uint64_t address, const std::string& hex);

  /// Tables that host software has made, for one of `stages`; caches that may be too small for
  /// them.
  /// `has_room`: memory and addresses of buffers are free for pages of 1 GiB.
  void draw_translation(const std::vector<std::string>& stages, bool has_room);
  /// A driver that maps and unmaps pages of the workload, most often on request, and devices with
  /// an ATC. Comes behind the workload.
  void draw_driver();
  /// PRG Responses from this root port to a function, its Routing ID, for groups that it has not
  /// asked for; amid traffic.
  void draw_wrong_answers(const std::string& port, unsigned function);
  /// Writes of a few processes of a function. Each has a place of its own in one page of memory and
  /// writes there by three addresses, whose walks take their time: at the end memory has what it
  /// wrote last, since no write of a process passes another [LNK-9.1].
  void draw_mapped_writes(const std::string& port, const std::string& bdf);

  Random random_;
  Case case_;

 private:
  void draw_agent_caches();
};

/// A random case of CXL.mem or CXL.cache: one or two memory expanders, or up to three devices whose
/// caches want the same lines, under random faults of the wire; now and then a link goes down.
/// `random` is the stream to draw from.
Case campaign_cxl_case(std::uint64_t seed, const Random& random);

}  // namespace flitwise::scenario
