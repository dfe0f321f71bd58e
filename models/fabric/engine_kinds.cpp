// SPDX-License-Identifier: Apache-2.0
#include "fabric/engine_kinds.h"

namespace flitwise {

const std::vector<EngineKind>& engine_kinds() {
  static const std::vector<EngineKind> kAll = {pio_engines(), rdma_engines()};
  return kAll;
}

}  // namespace flitwise
