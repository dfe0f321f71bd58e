// SPDX-License-Identifier: Apache-2.0
/// What stands in a handle table, at either end.
#pragma once

#include "dhi/handle_types.h"

namespace flitwise::test {

/// Handles of the range that have an entry.
template <class Table>
unsigned valid_entries(const Table& table, HandleRange range) {
  unsigned found = 0;
  for (unsigned i = 0; i < range.size(); ++i) {
    found += table.resolve(range.at(i)) ? 1U : 0U;
  }
  return found;
}
template <class Table>
unsigned valid_entries(const Table& table) {
  return valid_entries(table, table.range());
}

}  // namespace flitwise::test
