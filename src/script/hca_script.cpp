// SPDX-License-Identifier: Apache-2.0
// What comes of lines of a host channel adapter, as events.
#include "script/hca_script.h"

namespace flitwise {

HcaScript::Adapter::Adapter(const HcaScriptSetup& setup)
    : eps(setup.pretranslation), cache(setup.entries, setup.ways), psns(setup.entries) {
  for (std::uint32_t function = 0; setup.starts && function < eps.functions(); ++function) {
    eps.start(function);
  }
}

void HcaScript::run(const HcaLine& line, const Sink& sink) {
  sink_ = sink;
  if (!adapter_) {
    adapter_.emplace(parse_hca_line({"hca", Json::object()}, 0).setup);
  }
  line.verb->apply(*this, line);
}

// Commands that have no entry yet, oldest first. One that stalls is looked up again once there is
// room for it, and those behind it wait: so the commands of a queue pair keep their order.
void HcaScript::look_up() {
  using Outcome = QpLookup::Outcome;
  Adapter& own = *adapter_;
  for (Command& command : own.commands) {
    if (command.entry != kNoSlot) {
      continue;
    }
    if (command.has_stalled && !own.cache.has_room_for(command.tag)) {
      return;
    }
    const QpLookup found = own.cache.look_up(command.tag);
    Json event = {
        {"event", "hca_command"}, {"command", command.id}, {"outcome", name_of(found.outcome)}};
    command.has_stalled = found.outcome == Outcome::kStall;
    if (command.has_stalled) {
      sink_(event);
      return;
    }
    command.entry = found.entry;
    command.has_state = found.outcome == Outcome::kHit;
    event["entry"] = found.entry;
    if (command.has_state) {
      event["psn"] = own.psns[found.entry];
    }
    if (found.writes_back) {
      own.memory[{found.writes_back->function, found.writes_back->number}] = own.psns[found.entry];
      event["old_function"] = found.writes_back->function;
      event["old_qpn"] = found.writes_back->number;
    }
    if (found.outcome == Outcome::kFetch) {
      own.fetches.push_back({command.tag, found.entry});
    }
    sink_(event);
  }
}

// Nothing comes of it.
std::vector<HcaScript::Command>::iterator HcaScript::drop(std::vector<Command>::iterator command,
                                                          const char* outcome) {
  sink_({{"event", "hca_command"}, {"command", command->id}, {"outcome", outcome}});
  if (command->entry != kNoSlot) {
    adapter_->cache.unpin(command->entry);
  }
  return adapter_->commands.erase(command);
}

}  // namespace flitwise
