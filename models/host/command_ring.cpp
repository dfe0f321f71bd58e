// SPDX-License-Identifier: Apache-2.0
// One access after another; the head is read only where there seems to be no room.
#include "host/command_ring.h"

#include <utility>

#include "iommu/registers.h"

namespace flitwise {

void CommandRing::submit(std::vector<DescriptorBytes> commands, std::function<void()> done) {
  batches_.push_back({std::move(commands), std::move(done)});
  if (batches_.size() == 1) {
    bridge_.after(step_, [this] { write_next(); });
  }
}

void CommandRing::write_next() {
  Batch& batch = batches_.front();
  if (batch.next == batch.commands.size()) {
    publish();
    const std::function<void()> done = std::move(batch.done);
    batches_.pop_front();
    if (!batches_.empty()) {
      bridge_.after(step_, [this] { write_next(); });
    }
    done();
    return;
  }
  if (after(tail_) == head_) {
    make_room();
    return;
  }
  const DescriptorBytes& command = batch.commands[batch.next++];
  memory_.poke(base_ + tail_, command.data(), command.size());
  tail_ = after(tail_);
  ++written_;
  bridge_.after(step_, [this] { write_next(); });
}

// The agent has to get to what is in the ring before there is room for more.
void CommandRing::make_room() {
  publish();
  bridge_.read(kAgentRegisters + iommu_register::kIqh, 4, [this](const HostAnswer& answer) {
    head_ = answer.value();
    bridge_.after(step_, [this] { write_next(); });
  });
}

void CommandRing::publish() {
  bridge_.write_register(kAgentRegisters + iommu_register::kIqt, tail_);
}

}  // namespace flitwise
