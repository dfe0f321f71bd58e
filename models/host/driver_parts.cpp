// SPDX-License-Identifier: Apache-2.0
// Time and commands of the driver's threads.
#include "host/driver_parts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "iommu/entries.h"
#include "iommu/registers.h"

namespace flitwise {
namespace {

unsigned largest_address_mask(std::uint64_t capabilities) {
  return capabilities >> 48 & 0x3fU;  // CAP.MAMV [IOM-1.2]
}

}  // namespace

Background::Background(Time clock) : wakeup_("wakeup", clock) {
  wakeup_.wakes("work_process", [this] { work(); });
}

void Background::after(Time delay, std::function<void()> what) {
  const Time when = now() + delay;
  calls_.add(std::move(what), when);
  wakeup_.at(when);
}

void Background::work() {
  wakeup_.taken();
  while (calls_.is_due(now())) {
    const std::function<void()> what = calls_.take();
    what();
  }
  if (!calls_.empty()) {
    wakeup_.at(calls_.next());
  }
}

DriverParts::DriverParts(const HostConfig& host, const IommuConfig& iommu, std::uint64_t seed,
                         HostAccess& own_bridge, MemoryPort& own_memory, Background& own_background,
                         DriverPages own_pages)
    : config(host.iommu_driver),
      step(config.step.fs == 0 ? host.timing.software_step : config.step),
      memory_latency(host.memory.timing.latency),
      is_second_stage(iommu.translation == Translation::kSecondStage),
      has_permissions(iommu.secure_ats),
      bridge(own_bridge),
      memory(own_memory),
      background(own_background),
      registers(bridge, step),
      ring(bridge, memory, kInvalidationQueue, step),
      polls(bridge, step + memory_latency, host.timing.clock),
      random(Random(seed).split("iommu driver")),
      pages(std::move(own_pages)) {}

void DriverParts::note_wait(Time delay) {
  waits_until = std::max(waits_until, now() + delay);
}

void DriverParts::call_again(double per_second, Time& due, std::function<void()> what) {
  constexpr double kFsPerSecond = 1e15;
  const double gap = random.exponential(kFsPerSecond / per_second);
  due += Time{1 + static_cast<std::int64_t>(gap)};
  background.after(due - now(), std::move(what));
}

bool DriverParts::has_status(std::uint64_t address, std::uint32_t serial) const {
  return static_cast<std::uint32_t>(memory.peek_u64(address)) == serial;
}

// [IOM-5.3] [IOM-5.6]
DescriptorBytes DriverParts::agent_invalidation(const DriverDomain& domain,
                                                const PageRange& range) const {
  const unsigned mask = range.size_bits - kSmallestRangeBits;
  const bool by_page =
      !(range == PageRange::everything()) && mask <= largest_address_mask(capabilities);
  const auto fill = [&](auto command, auto page) {
    command.granularity = by_page ? page : command.granularity;
    command.domain = domain.number;
    command.address_mask = by_page ? static_cast<std::uint8_t>(mask) : std::uint8_t{0};
    command.address = by_page ? range.base : 0;
    command.leaf_only = by_page;
    return command;
  };
  if (is_second_stage) {
    IotlbInvalidation all;
    all.granularity = IotlbInvalidation::Granularity::kDomain;
    all.drains_writes = all.drains_reads = true;
    return encode(fill(all, IotlbInvalidation::Granularity::kPage));
  }
  PasidIotlbInvalidation all;
  all.pasid = domain.identity.pasid.value_or(Pasid{});
  return encode(fill(all, PasidIotlbInvalidation::Granularity::kPage));
}

void DriverParts::submit(std::vector<DescriptorBytes> commands) {
  if (!commands.empty()) {
    ring.submit(std::move(commands), [] {});
  }
}

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
