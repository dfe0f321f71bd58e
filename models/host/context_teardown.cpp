// SPDX-License-Identifier: Apache-2.0
// A context ends, step by step.
#include "host/context_teardown.h"

#include <array>
#include <utility>

#include "endpoint/device_registers.h"
#include "flitwise/link_socket.h"
#include "host/driver_memory.h"
#include "iommu/entries.h"

namespace flitwise {
namespace {

constexpr unsigned kMostRepeats = 3;
constexpr std::array<const char*, 7> kNames = {
    "teardown_stop",  "teardown_handle", "teardown_agent", "teardown_device",
    "teardown_drain", "teardown_reset",  "teardown"};

}  // namespace

ContextTeardown::ContextTeardown(HostAccess& bridge, MemoryPort& memory, CommandRing& ring,
                                 DriverPages& pages, Options options)
    : bridge_(bridge),
      memory_(memory),
      ring_(ring),
      pages_(pages),
      options_(options),
      polls_(bridge, options.step + options.memory_latency, options.clock) {}

void ContextTeardown::end(std::uint32_t domain) {
  pages_.domain(domain).is_over = true;  // nothing is mapped for it any more
  backlog_.push_back({domain, now()});
  next();
}

void ContextTeardown::next() {
  if (is_busy_ || backlog_.empty()) {
    return;
  }
  is_busy_ = true;
  domain_ = backlog_.front().domain;
  called_ = mark_ = backlog_.front().when;
  backlog_.pop_front();
  bridge_.after(options_.step, [this] { stop(); });
}

// The phase that is over lasted since the one before.
void ContextTeardown::over(Phase phase) {
  ++steps_;
  latencies_[phase].record(now() - mark_);
  mark_ = now();
}

// The device gives out no more work for it, and says so when what was under way has ended.
void ContextTeardown::stop() {
  if (options_.mistake == DriverMistake::kNoStop ||
      options_.mistake == DriverMistake::kNoPasidCache) {
    free_handle();
    return;
  }
  std::array<std::uint8_t, 8> bytes{};
  store_u64(bytes.data(), ContextStop{domain().identity.bdf, domain().identity.pasid}.encode());
  bridge_.write(services_.stop_register(domain()), bytes.data(), bytes.size(), false);
  unanswered_ = 0;
  poll_stop();
}

void ContextTeardown::poll_stop() {
  constexpr std::uint32_t kIsStopping = ContextStop::kStop >> 32;
  bridge_.after(options_.step, [this] {
    bridge_.read(services_.stop_register(domain()) + 4, 4, [this](const HostAnswer& answer) {
      const bool asks_again = !answer.is_ok() && ++unanswered_ <= kMostRepeats;
      if (asks_again || (answer.is_ok() && (answer.value() & kIsStopping) != 0)) {
        poll_stop();
        return;
      }
      over(kStop);
      free_handle();
    });
  });
}

void ContextTeardown::free_handle() {
  if (!services_.free_handle) {
    clear_entry();
    return;
  }
  services_.free_handle(domain(), [this] {
    over(kHandle);
    clear_entry();
  });
}

// From here on no walk finds the context, and nothing permits its pages; caches may. [IOM-2.5]
// [SEC-05]
void ContextTeardown::clear_entry() {
  bridge_.after(options_.step, [this] {
    had_ = pages_.end_domain(domain_);
    if (options_.mistake != DriverMistake::kNoRevoke) {
      for (const PageFrames::Frame frame : had_) {
        pages_.revoke(domain_, frame);
      }
    }
    invalidate_agent();
  });
}

// [IOM-5.6] [IOM-5.7]
void ContextTeardown::invalidate_agent() {
  const DriverDomain& context = domain();
  const Pasid pasid = context.identity.pasid.value_or(Pasid{});
  std::vector<DescriptorBytes> commands;
  if (options_.mistake != DriverMistake::kNoPasidCache) {
    PasidCacheInvalidation entry;
    entry.granularity = PasidCacheInvalidation::Granularity::kPasid;
    entry.domain = context.number;
    entry.pasid = pasid;
    commands.push_back(encode(entry));
  }
  if (options_.is_second_stage) {
    IotlbInvalidation translations;
    translations.granularity = IotlbInvalidation::Granularity::kDomain;
    translations.domain = context.number;
    translations.drains_writes = translations.drains_reads = true;
    commands.push_back(encode(translations));
  } else {
    PasidIotlbInvalidation translations;
    translations.domain = context.number;
    translations.pasid = pasid;
    commands.push_back(encode(translations));
  }
  // Of all domains: requests without PASID are checked against a table that they share. [IOM-5.11]
  if (options_.has_permissions && options_.mistake != DriverMistake::kNoRevoke) {
    commands.push_back(encode(PermissionInvalidation{}));
  }
  submit(std::move(commands), [this] {
    over(kAgent);
    invalidate_device();
  });
}

// [INV-35] [IOM-5.4]
void ContextTeardown::invalidate_device() {
  const DriverDomain& context = domain();
  if (!context.has_device_tlb || options_.mistake == DriverMistake::kNoDevice) {
    pages_are_free();
    return;
  }
  submit({encode(device_tlb_invalidation(context, PageRange::everything()))}, [this] {
    over(kDevice);
    drain_page_requests();
  });
}

// Behind the wait all that the device has asked for is in the queue. [IQU-15]
void ContextTeardown::drain_page_requests() {
  if (!domain().has_page_requests) {
    pages_are_free();
    return;
  }
  InvalidationWait wait;
  wait.drains_page_requests = true;
  const auto drained = [this] {
    over(kDrain);
    pages_are_free();
  };
  submit({}, drained, wait);
}

// They may go to anybody.
void ContextTeardown::pages_are_free() {
  for (const PageFrames::Frame frame : had_) {
    pages_.frames().take_back(frame);
  }
  pages_.forget_domain(domain_);
  had_.clear();
  if (!options_.resets) {
    finish();
    return;
  }
  services_.reset(domain(), [this] {
    over(kReset);
    finish();
  });
}

void ContextTeardown::finish() {
  ++ended_;
  latencies_[kTotal].record(now() - called_);
  is_busy_ = false;
  next();
}

// With a wait behind them, whose status is looked for in memory.
void ContextTeardown::submit(std::vector<DescriptorBytes> commands, std::function<void()> then,
                             InvalidationWait wait) {
  commands_ = std::move(commands);
  then_ = std::move(then);
  repeats_ = 0;
  wait.writes_status = true;
  wait.is_fence = true;
  wait.status = ++serial_;
  wait.status_address = kTeardownStatus;
  commands_.push_back(encode(wait));
  is_waiting_ = true;
  ring_.submit(commands_, [this] { polls_.begin([this] { return look(); }); });
}

// True: the wait is not over, so that it looks again.
bool ContextTeardown::look() {
  std::array<std::uint8_t, 8> status{};
  memory_.peek(kTeardownStatus, status.data(), status.size());
  const bool is_over = static_cast<std::uint32_t>(load_u64(status.data())) == serial_;
  if (!is_over && options_.mistake != DriverMistake::kNoWait) {
    return true;
  }
  is_waiting_ = false;
  const std::function<void()> then = std::move(then_);
  then();
  return false;
}

void ContextTeardown::repeat() {
  if (is_waiting_ && repeats_ < kMostRepeats) {
    ++repeats_;
    ring_.submit(commands_, [] {});
  }
}

std::vector<LatencyResult> ContextTeardown::latencies() const {
  std::vector<LatencyResult> all;
  if (ended_ == 0) {
    return all;
  }
  all.push_back(latencies_[kTotal].since(window_[kTotal]).summary(kNames[kTotal]));
  for (std::size_t phase = 0; phase < kTotal; ++phase) {
    if (latencies_[phase].count() != 0) {
      all.push_back(latencies_[phase].since(window_[phase]).summary(kNames[phase]));
    }
  }
  return all;
}

}  // namespace flitwise
