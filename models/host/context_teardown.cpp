// SPDX-License-Identifier: Apache-2.0
// A context ends, step by step.
#include "host/context_teardown.h"

#include <fmt/format.h>

#include "codec/json_value.h"
#include "endpoint/device_registers.h"
#include "flitwise/link_socket.h"

namespace flitwise {
namespace {

constexpr std::array<const char*, 7> kNames = {
    "teardown_stop",  "teardown_handle", "teardown_agent", "teardown_device",
    "teardown_drain", "teardown_reset",  "teardown"};
// What each phase but the last waits for.
constexpr std::array<const char*, 6> kAwaited = {
    "the device to stop it",         "its handle to be freed",
    "the agent to invalidate it",    "the device to invalidate its translations",
    "its page requests to be taken", "the reset of its function"};

}  // namespace

void ContextTeardown::begin() {
  due_ = now();
  if (driver_.config.teardown_rate > 0 && services_.stop_register) {
    tick();
  }
}

// Somebody ends a context; while one is being torn down, the next call waits.
void ContextTeardown::tick() {
  if (!driver_.has_work()) {
    return;
  }
  // Those that could be ended. Flushes go in the name of the first one of a device, and translated
  // requests without PASID in the name of one that all of a function share.
  std::vector<std::uint32_t> live;
  for (std::uint32_t index = 0; index < driver_.pages.domains(); ++index) {
    const DriverDomain& one = driver_.pages.domain(index);
    if (!one.is_over && to_int(one.id) != 0 && !one.is_shared) {
      live.push_back(index);
    }
  }
  if (live.empty()) {
    return;
  }
  if (driver_.is_ready && !is_busy_) {
    domain_ = live[driver_.random.below(live.size())];
    driver_.pages.domain(domain_).is_over = true;  // nothing is mapped for it any more
    is_busy_ = true;
    called_ = mark_ = now();
    driver_.bridge.after(driver_.step, [this] { stop(); });
  }
  driver_.call_again(driver_.config.teardown_rate, due_, [this] { tick(); });
}

// The phase that is over lasted since the one before.
void ContextTeardown::over(Phase phase) {
  ++steps_;
  latencies_[phase].record(now() - mark_);
  mark_ = now();
}

// The device gives out no more work for it, and says so when what was under way has ended.
void ContextTeardown::stop() {
  phase_ = kStop;
  if (driver_.config.mistake == DriverMistake::kNoStop ||
      driver_.config.mistake == DriverMistake::kNoPasidCache) {
    free_handle();
    return;
  }
  driver_.bridge.write_register(
      services_.stop_register(domain()),
      ContextStop{domain().identity.bdf, domain().identity.pasid}.encode());
  unanswered_ = 0;
  poll_stop();
}

void ContextTeardown::poll_stop() {
  constexpr std::uint32_t kIsStopping = ContextStop::kStop >> 32;
  driver_.bridge.after(driver_.step, [this] {
    driver_.bridge.read(services_.stop_register(domain()) + 4, 4, [this](const HostAnswer& answer) {
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
  phase_ = kHandle;
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
  driver_.bridge.after(driver_.step, [this] {
    had_ = driver_.pages.end_domain(domain_);
    if (driver_.config.mistake != DriverMistake::kNoRevoke) {
      for (const PageFrames::Frame frame : had_) {
        driver_.pages.revoke(domain_, frame);
      }
    }
    invalidate_agent();
  });
}

// [IOM-5.6] [IOM-5.7]
void ContextTeardown::invalidate_agent() {
  phase_ = kAgent;
  const DriverDomain& context = domain();
  std::vector<DescriptorBytes> commands;
  if (driver_.config.mistake != DriverMistake::kNoPasidCache) {
    PasidCacheInvalidation entry;
    entry.granularity = PasidCacheInvalidation::Granularity::kPasid;
    entry.domain = context.number;
    entry.pasid = context.identity.pasid.value_or(Pasid{});
    commands.push_back(encode(entry));
  }
  commands.push_back(driver_.agent_invalidation(context, PageRange::everything()));
  // Of all domains: requests without PASID are checked against a table that they share. [IOM-5.11]
  if (driver_.has_permissions && driver_.config.mistake != DriverMistake::kNoRevoke) {
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
  if (!context.has_device_tlb || driver_.config.mistake == DriverMistake::kNoDevice) {
    pages_are_free();
    return;
  }
  phase_ = kDevice;
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
  phase_ = kDrain;
  const auto drained = [this] {
    over(kDrain);
    pages_are_free();
  };
  submit({}, drained, wait);
}

// They may go to anybody.
void ContextTeardown::pages_are_free() {
  for (const PageFrames::Frame frame : had_) {
    driver_.pages.frames().take_back(frame);
  }
  driver_.pages.forget_domain(domain_);
  had_.clear();
  if (!driver_.config.teardown_reset) {
    finish();
    return;
  }
  phase_ = kReset;
  services_.reset(domain(), [this] {
    over(kReset);
    finish();
  });
}

void ContextTeardown::finish() {
  ++ended_;
  latencies_[kTotal].record(now() - called_);
  is_busy_ = false;
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
  driver_.ring.submit(commands_, [this] { driver_.polls.begin([this] { return look(); }); });
}

// True: the wait is not over, so that it looks again.
bool ContextTeardown::look() {
  if (!driver_.has_status(kTeardownStatus, serial_) &&
      driver_.config.mistake != DriverMistake::kNoWait) {
    return true;
  }
  is_waiting_ = false;
  std::exchange(then_, nullptr)();
  return false;
}

void ContextTeardown::repeat() {
  if (is_waiting_ && repeats_ < kMostRepeats) {
    ++repeats_;
    driver_.ring.submit(commands_);
  }
}

std::string ContextTeardown::waiting() const {
  if (!is_busy_) {
    return {};
  }
  const DeviceIdentity& who = domain().identity;
  std::string text =
      fmt::format("the teardown of the context {}{} waits for {}", json_value::bdf_text(who.bdf),
                  who.pasid ? fmt::format(" PASID {}", to_int(*who.pasid)) : "", kAwaited[phase_]);
  if (is_waiting_ && repeats_ > 0) {
    text += fmt::format(", ordered again {} times since no answer came in time", repeats_);
  }
  return text;
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
