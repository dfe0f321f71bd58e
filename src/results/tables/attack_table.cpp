// SPDX-License-Identifier: Apache-2.0
// Attacks by hostile devices.
#include <string>
#include <vector>

#include "results/tables.h"

namespace flitwise {
namespace {

TextTable attack_view(const std::vector<AttackResult>& rows, const RunResult& /*result*/) {
  TextTable table({"Attacks", "tried", "through"});
  for (const AttackResult& one : rows) {
    if (one.tried != 0) {
      table.add(one.attack, one.tried, one.through);
    }
  }
  return table;
}

}  // namespace

const StatisticsTable& attack_table() {
  static const auto kTable =
      Table<AttackResult>("attacks", "attack",
                          "What hostile devices tried, by kind; none where no device is hostile.")
          .name("attack", &AttackResult::attack)
          .count("tried", &AttackResult::tried,
                 "TLPs that reached a switch or root port above the device.")
          .count("through", &AttackResult::through,
                 "Of them, those that got what is not their device's.")
          .flat(FlatRows::kNamed, "attack")
          .show(attack_view);
  return kTable;
}

}  // namespace flitwise
