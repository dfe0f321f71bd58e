// SPDX-License-Identifier: Apache-2.0
// The stages of an adapter, and whose turn it is.
#include "rdma/hca.h"

#include <boost/range/algorithm_ext/erase.hpp>

#include <algorithm>

#include "common/ranges.h"
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
      parts_{config_,     pairs_,   totals_,     arrived_,  dma_,     commands_,
             kicks_,      fetch_,   states_,     rings_,    receive_, builder_,
             completion_, entries_, validation_, receiver_, *this},
      collect_(parts_, [this](Time when) { wakeup_.at(when); }),
      kicks_(parts_),
      fetch_(parts_),
      states_(parts_),
      rings_(parts_),
      dma_(
          std::move(work_appeared), [this](Time when) { wakeup_.at(when); }, pairs_),
      builder_(parts_),
      receiver_(parts_, [this](Time when) { wakeup_.at(when); }),
      receive_(parts_),
      entries_(parts_),
      validation_(parts_),
      completion_(parts_),
      stages_{&collect_, &kicks_,    &fetch_,   &states_,  &rings_,      &dma_,
              &builder_, &receiver_, &receive_, &entries_, &validation_, &completion_},
      modules_(stages_.begin(), stages_.end()) {
  for (std::size_t i = 0; i < kStages; ++i) {
    stages_[i]->keep_turn(turns_[i]);
  }
  wakeup_.wakes("work", [this] { work(); });
  if (config_.sessions) {
    sessions_.emplace(parts_, HcaSessions::Hooks{[this](std::uint32_t pair) {
                                                   states_.begin(pair);
                                                   hooks_.connected(pair);
                                                 },
                                                 [this](Time now) { hooks_.all_connected(now); }});
    parts_.carriers = &*sessions_;
    modules_.push_back(&*sessions_);
  }
}

void Hca::connect(NicPort& port, FramePool& frames, const NicPort& far) {
  port_ = &port;
  far_ = &far;
  builder_.connect(port, frames);
  receiver_.connect(port);
  port.on_resume([this] {
    builder_.go_on(flitwise::now());
    wakeup_.at(flitwise::now());
  });
}

void Hca::start() {
  if (sessions_) {
    sessions_->connect(flitwise::now());
    wakeup_.at(flitwise::now());
    return;
  }
  for (std::uint32_t place = 0; place < config_.function_count(); ++place) {
    pairs_.connect(place, 0);
    states_.start(place);
  }
  for (std::uint32_t pair = 0; pair < pairs_.size(); ++pair) {
    hooks_.connected(pair);
  }
  hooks_.all_connected(flitwise::now());
}

void Hca::reset(unsigned function) {
  const Time now = flitwise::now();
  for (std::uint32_t place = 0; place < config_.function_count(); ++place) {
    if (function == 0 || config_.functions[place] == function) {
      take_down(place, now);
    }
  }
  if (function == 0 && !pairs_.are_served()) {
    command({AdapterCommand::Kind::kEnable, 0, 0}, now);
  }
}

// What passes the stages for it comes to nothing there: each looks whether its function is down.
void Hca::take_down(std::uint32_t place, Time now) {
  pairs_.reset(place);
  for (std::uint32_t pair = place; pair < pairs_.size(); pair += config_.function_count()) {
    commands_.close_all(pairs_[pair].commands);
    commands_.close_all(pairs_[pair].payloads);
    receive_.drop_held(pair);
  }
  reset_sessions(place, now);
  commands_.drop(place);
  states_.reset(place);
  completion_.reset(place);
  dma_.drop_down(now);
  boost::range::remove_erase_if(set_ups_, [&](const SetUp& one) { return one.place == place; });
  wakeup_.at(now);
  hooks_.went_down(place);
}

// What its queue pairs have sent is on its way no more, and they go on with other PSNs.
void Hca::reset_sessions(std::uint32_t place, Time now) {
  for (std::uint32_t pair = place; sessions_ && pair < pairs_.size();
       pair += config_.function_count()) {
    sessions_->reset(pair, now);
  }
}

bool Hca::command(const AdapterCommand& command, Time now) {
  if (command.kind != AdapterCommand::Kind::kSetUp) {
    pairs_.serve(command.kind == AdapterCommand::Kind::kEnable);
    hooks_.service(pairs_.are_served());
    wakeup_.at(now);
    return true;
  }
  if (command.place >= config_.function_count()) {
    return false;
  }
  take_down(command.place, now);
  set_ups_.push_back({command.place, command.epoch, Time::never()});
  return true;
}

void Hca::set_up_due(Time now) {
  for (SetUp& one : set_ups_) {
    const bool is_busy =
        pairs_.are_pinned(one.place) ||
        any_of(stages_, [&](const HcaModule* stage) { return stage->holds(one.place); });
    one.when = is_busy ? Time::never() : one.when == Time::never() ? now + kSetUpTime : one.when;
  }
  for (auto due = set_ups_.begin(); due != set_ups_.end();) {
    if (due->when > now) {
      ++due;
      continue;
    }
    const SetUp one = *due;
    due = set_ups_.erase(due);
    pairs_.set_up(one.place, one.epoch);
    reset_sessions(one.place, now);
    states_.start(one.place);
    hooks_.came_up(one.place, one.epoch);
  }
}

void Hca::work() {
  wakeup_.taken();
  const Time now = flitwise::now();
  run(now);
  Time next = Time::never();
  if (!set_ups_.empty()) {
    set_up_due(now);
    for (const SetUp& one : set_ups_) {
      next = std::min(next, one.when);
    }
  }
  for (const HcaTurn& turn : turns_) {
    next = std::min(next, turn.next);
  }
  next = sessions_ ? std::min(next, sessions_->next()) : next;
  wakeup_.at(next);
}

// Again and again, until none has moved since it ran last.
void Hca::run(Time now) {
  dma_.run(now);
  do {
    std::size_t idle = 0;
    for (std::size_t next = 0; idle < kOrder.size();
         next = next + 1 < kOrder.size() ? next + 1 : 0) {
      const std::size_t i = kOrder[next];
      idle = turns_[i].asks_from <= now && stages_[i]->run(now) ? 0 : idle + 1;
    }
  } while (sessions_ && sessions_->asks_from() <= now && sessions_->run(now));
  for (std::size_t i = 0; i < kStages; ++i) {
    if (turns_[i].asks_from <= now) {
      stages_[i]->settle(now);
    }
  }
  if (sessions_ && sessions_->asks_from() <= now) {
    sessions_->settle(now);
  }
}

}  // namespace flitwise
