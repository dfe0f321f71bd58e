// SPDX-License-Identifier: Apache-2.0
// Time and commands of the driver's threads.
#include "host/driver_parts.h"

#include "common/ranges.h"

#include <algorithm>
#include <utility>

#include "iommu/entries.h"
#include "iommu/registers.h"

namespace flitwise {
namespace {

std::uint32_t next_place(std::uint32_t offset) {
  return (offset + kWideDescriptorBytes) % CommandRing::kBytes;
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

StatusPoll::StatusPoll(HostAccess& bridge, Time period, Time clock)
    : bridge_(bridge), period_(period), spacing_(next_edge(std::max(period, clock), clock)) {}

void StatusPoll::after(Time delay, Poller poller) {
  bridge_.after(delay, [this, poller = std::move(poller)] { look(poller); });
}

void StatusPoll::look(Poller poller) {
  if (!poller.look()) {
    return;
  }
  if (++poller.in_vain < kMostLooks) {
    after(period_, std::move(poller));
  } else {
    poller.last = now();
    asleep_.push_back(std::move(poller));
  }
}

void StatusPoll::wake() {
  std::vector<Poller> all;
  all.swap(asleep_);
  for (Poller& one : all) {
    const std::int64_t since = (now() - one.last).fs;
    const std::int64_t looks = std::max<std::int64_t>(1, (since + spacing_.fs - 1) / spacing_.fs);
    one.in_vain = 0;
    after(one.last + spacing_ * looks - now(), std::move(one));
  }
}

DriverParts::DriverParts(const HostConfig& host, const IommuConfig& iommu, std::uint64_t seed,
                         HostAccess& own_bridge, MemoryPort& own_memory)
    : config(host.iommu_driver),
      step(config.step.fs == 0 ? host.timing.software_step : config.step),
      memory_latency(host.memory.timing.latency),
      is_second_stage(iommu.translation == Translation::kSecondStage),
      has_permissions(iommu.secure_ats),
      bridge(own_bridge),
      memory(own_memory),
      background(host.timing.clock),
      registers(bridge, step),
      ring(bridge, memory, kInvalidationQueue, step),
      polls(bridge, step + memory_latency, host.timing.clock),
      random(Random(seed).split("iommu driver")) {}

void DriverParts::call_again(double per_second, Time& due, std::function<void()> what) {
  constexpr double kFsPerSecond = 1e15;
  const double gap = random.exponential(kFsPerSecond / per_second);
  due += Time{1 + static_cast<std::int64_t>(gap)};
  background.after(due - now(), std::move(what));
}

// [IOM-5.3] [IOM-5.6]
DescriptorBytes DriverParts::agent_invalidation(const DriverDomain& domain,
                                                const PageRange& range) const {
  const unsigned mask = range.size_bits - kSmallestRangeBits;
  const unsigned largest_mask = capabilities >> 48 & 0x3fU;  // CAP.MAMV [IOM-1.2]
  const bool by_page = !(range == PageRange::everything()) && mask <= largest_mask;
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

void CommandRing::submit(std::vector<DescriptorBytes> commands, std::function<void()> done) {
  batches_.push_back({std::move(commands), std::move(done)});
  if (batches_.size() == 1) {
    use.set(1, now());
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
    } else {
      use.set(0, now());
    }
    done();
    return;
  }
  if (next_place(tail_) == head_) {
    make_room();
    return;
  }
  const DescriptorBytes& command = batch.commands[batch.next++];
  memory_.poke(base_ + tail_, command.data(), command.size());
  tail_ = next_place(tail_);
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

std::size_t CommandRing::waiting() const {
  return sum_of<std::size_t>(batches_, [](const Batch& one) { return one.commands.size(); });
}

}  // namespace flitwise
