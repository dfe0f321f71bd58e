// SPDX-License-Identifier: Apache-2.0
/// The traces that `--trace KIND=FILE` can write.
#pragma once

#include <vector>

namespace flitwise {

struct TraceKind {
  const char* name;
  const char* sentence;
};

inline const std::vector<TraceKind>& trace_kinds() {
  static const std::vector<TraceKind> kKinds = {
      {"packets", "CSV, one line a packet: time, place, kind, sizes by cause, identity, hops."},
  };
  return kKinds;
}

}  // namespace flitwise
