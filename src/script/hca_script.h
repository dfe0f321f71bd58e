// SPDX-License-Identifier: Apache-2.0
/// The QP-state cache and the pre-translation of one host channel adapter, driven by lines of a
/// script.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "hca/qp_state_cache.h"
#include "script/hca_line.h"

namespace flitwise {

class HcaScript {
 public:
  using Sink = std::function<void(const Json&)>;
  /// Does what the line says and tells what comes of it, as events. Before the first line that sets
  /// an adapter up there is one as that line makes it without keys.
  void run(const HcaLine& line, const Sink& sink);

 private:
  friend struct HcaActions;

  /// Work for a queue pair, in its order.
  struct Command {
    std::uint64_t id = 0;
    QpTag tag;
    Slot entry = kNoSlot;  ///< none until a look-up has found one
    bool has_state = false, has_stalled = false;
  };
  struct Fetch {
    QpTag tag;
    Slot entry = kNoSlot;
  };
  struct Adapter {
    explicit Adapter(const HcaScriptSetup& setup);
    Pretranslation eps;
    QpStateCache cache;
    std::vector<std::uint32_t>
        psns;  ///< by entry of the cache: the state, as far as scripts see it
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> memory;  ///< likewise
    std::vector<Command> commands;  ///< under way, oldest first
    std::vector<Fetch> fetches;     ///< likewise
    Time now{};
  };

  void look_up();
  /// The one behind it.
  std::vector<Command>::iterator drop(std::vector<Command>::iterator command, const char* outcome);

  std::optional<Adapter> adapter_;
  Sink sink_;
};

}  // namespace flitwise
