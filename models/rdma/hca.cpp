// SPDX-License-Identifier: Apache-2.0
// The stages of an adapter, and whose turn it is.
#include "rdma/hca.h"

#include <algorithm>

#include "flitwise/link_socket.h"

namespace flitwise {

Hca::Hca(const sc_core::sc_module_name& name, std::string device, const HcaConfig& config,
         std::function<void()> work_appeared)
    : ComponentModule(name),
      device_(std::move(device)),
      config_(config),
      wakeup_("wakeup", config.rdma.timing.clock),
      pairs_(config_),
      commands_(config.rdma.fifo, config.functions.size()),
      parts_{config_, pairs_,   totals_,  dma_,        commands_, kicks_,      fetch_,   states_,
             rings_,  receive_, builder_, completion_, entries_,  validation_, receiver_},
      collect_(parts_, [this](Time when) { wakeup_.at(when); }),
      kicks_(parts_),
      fetch_(parts_),
      states_(parts_),
      rings_(parts_),
      dma_(std::move(work_appeared), [this](Time when) { wakeup_.at(when); }),
      builder_(parts_),
      receiver_(parts_, [this](Time when) { wakeup_.at(when); }),
      receive_(parts_),
      entries_(parts_),
      validation_(parts_),
      completion_(parts_),
      stages_{&collect_, &kicks_,    &fetch_,   &states_,  &rings_,      &dma_,
              &builder_, &receiver_, &receive_, &entries_, &validation_, &completion_} {
  wakeup_.wakes("work", [this] { work(); });
}

void Hca::connect(NicPort& port, FramePool& frames, const NicPort& far) {
  port_ = &port;
  far_ = &far;
  builder_.connect(port, frames);
  receiver_.connect(port);
}

void Hca::start() {
  for (std::uint32_t pair = 0; pair < pairs_.size(); ++pair) {
    for (const QpState state : {QpState::kInit, QpState::kRtr, QpState::kRts}) {
      pairs_[pair].rules.modify(state);
    }
  }
  states_.start();
}

void Hca::work() {
  wakeup_.taken();
  const Time now = flitwise::now();
  run(now);
  Time next = Time::never();
  for (const HcaModule* const stage : stages_) {
    next = std::min(next, stage->next());
  }
  wakeup_.at(next);
}

// What is behind goes first, so that there is room for what is before; and again, until nothing
// moves.
void Hca::run(Time now) {
  HcaModule* const turns[] = {&completion_, &validation_, &entries_, &receive_, &fetch_,
                              &receiver_,   &builder_,    &collect_, &kicks_};
  dma_.run(now);
  for (bool has_moved = true; has_moved;) {
    has_moved = false;
    for (HcaModule* const stage : turns) {
      has_moved = (stage->asks_from() <= now && stage->run(now)) || has_moved;
    }
  }
  for (HcaModule* const stage : stages_) {
    if (stage->asks_from() <= now) {
      stage->settle(now);
    }
  }
}

}  // namespace flitwise
