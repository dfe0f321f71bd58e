// SPDX-License-Identifier: Apache-2.0
// Start, registers and time. What it unmaps is in iommu_driver_unmap.cpp, what devices ask for in
// iommu_driver_events.cpp.
#include "host/iommu_driver.h"

#include <fmt/format.h>

#include <array>

#include "host/driver_memory.h"
#include "iommu/entries.h"
#include "tlp/identity.h"

namespace flitwise {
namespace reg = iommu_register;
namespace {

constexpr std::uint64_t kInterruptAddress = 0xfee0'0000;
constexpr std::uint64_t kWideDescriptors = std::uint64_t{1} << 11;  // IQA.DW

Time or_default(Time time, Time otherwise) {
  return time.fs == 0 ? otherwise : time;
}

}  // namespace

IommuDriver::IommuDriver(const sc_core::sc_module_name& name, const HostConfig& config,
                         const IommuConfig& iommu, std::uint64_t seed, HostAccess& bridge,
                         TranslationAgent& agent, MemoryPort& memory)
    : sc_module(name),
      config_(config.iommu_driver),
      step_(or_default(config_.step, config.timing.software_step)),
      interrupt_latency_(config.timing.mmio),
      memory_latency_(config.memory.timing.latency),
      clock_(config.timing.clock),
      is_second_stage_(iommu.translation == Translation::kSecondStage),
      has_permissions_(iommu.secure_ats),
      bridge_(bridge),
      agent_(agent),
      memory_(memory),
      ring_(bridge, memory, kInvalidationQueue, step_),
      polls_(bridge, step_ + memory_latency_, clock_),
      random_(Random(seed).split("iommu driver")),
      wakeup_("wakeup", config.timing.clock) {
  wakeup_.wakes("work_process", [this] { work(); });
}

void IommuDriver::take_over(DriverPages pages) {
  pages_.emplace(std::move(pages));
  most_held_ = spare_frames(config_);
  ContextTeardown::Options options;
  options.step = step_;
  options.memory_latency = memory_latency_;
  options.clock = clock_;
  options.is_second_stage = is_second_stage_;
  options.has_permissions = has_permissions_;
  options.resets = config_.teardown_reset;
  options.mistake = config_.mistake;
  teardown_.emplace(bridge_, memory_, ring_, *pages_, options);
}

void IommuDriver::read_register(std::uint32_t offset, unsigned bytes,
                                std::function<void(std::uint64_t)> then) {
  bridge_.read(kAgentRegisters + offset, bytes,
               [bytes, then = std::move(then)](const HostAnswer& answer) {
                 then(bytes == 8 ? load_u64(answer.data.data()) : answer.value());
               });
}

void IommuDriver::write_register(const RegisterWrite& access) {
  std::array<std::uint8_t, 8> bytes{};
  store_u64(bytes.data(), access.value);
  bridge_.write(kAgentRegisters + access.offset, bytes.data(), access.bytes, false);
}

// One after another, a step apart.
void IommuDriver::write_registers(std::vector<RegisterWrite> accesses, std::function<void()> then) {
  bridge_.after(step_, [this, accesses = std::move(accesses), then = std::move(then)]() mutable {
    if (accesses.empty()) {
      then();
      return;
    }
    write_register(accesses.front());
    accesses.erase(accesses.begin());
    write_registers(std::move(accesses), std::move(then));
  });
}

void IommuDriver::start() {
  is_started_ = true;
  agent_.add_hooks({{},
                    [this](const IommuInterrupt& interrupt) { interrupted(interrupt.data); },
                    [this] {
                      polls_.wake();
                      teardown_->look_at_status();
                    }});
  const auto vector = [](IommuEvent event) { return static_cast<std::uint64_t>(event); };
  read_register(reg::kCap, 8, [this, vector](std::uint64_t capabilities) {
    capabilities_ = capabilities;
    write_registers(
        {{reg::kIqt, 8, 0},
         {reg::kIqa, 8, kInvalidationQueue | kWideDescriptors | CommandRing::kSizeField},
         {reg::kPqh, 8, 0},
         {reg::kPqa, 8,
          kPageRequestQueue |
              static_cast<unsigned>(__builtin_ctzll(config_.page_request_queue / 4096))},
         {reg::kFedata, 4, vector(IommuEvent::kFault)},
         {reg::kFeaddr, 4, kInterruptAddress},
         {reg::kFeuaddr, 4, 0},
         {reg::kIedata, 4, vector(IommuEvent::kInvalidation)},
         {reg::kIeaddr, 4, kInterruptAddress},
         {reg::kIeuaddr, 4, 0},
         {reg::kPedata, 4, vector(IommuEvent::kPageRequest)},
         {reg::kPeaddr, 4, kInterruptAddress},
         {reg::kPeuaddr, 4, 0}},
        [this] { enable_queue(); });
  });
}

// GCMD is written as a whole: what is on stays on. [IOM-1.4]
void IommuDriver::enable_queue() {
  read_register(reg::kGsts, 4, [this](std::uint64_t status) {
    const std::uint64_t lasting = status & ~std::uint64_t{global_bit::kRootTable};
    write_registers({{reg::kGcmd, 4, lasting | global_bit::kQueue},
                     {reg::kFectl, 4, 0},
                     {reg::kIectl, 4, 0},
                     {reg::kPectl, 4, 0}},
                    [this] { await_queue(); });
  });
}

void IommuDriver::await_queue() {
  read_register(reg::kGsts, 4, [this](std::uint64_t status) {
    if ((status & global_bit::kQueue) != 0) {
      is_ready_ = true;
    } else {
      bridge_.after(step_, [this] { await_queue(); });
    }
  });
}

// The messages of the agent reach a core; each thread takes its time to wake up.
void IommuDriver::interrupted(std::uint32_t vector) {
  bridge_.after(interrupt_latency_ + step_, [this, vector] {
    switch (static_cast<IommuEvent>(vector)) {
      case IommuEvent::kFault:
        take_faults();
        break;
      case IommuEvent::kInvalidation:
        write_registers({{reg::kIcs, 4, 1}}, [this] { poll(); });
        break;
      case IommuEvent::kPageRequest:
        serve_pages();
        break;
    }
  });
}

void IommuDriver::begin(std::function<bool()> has_work) {
  has_work_ = std::move(has_work);
  unmap_due_ = teardown_due_ = now();
  if (config_.unmap_rate > 0 && pages_->domains() != 0) {
    tick();
  }
  if (config_.teardown_rate > 0 && teardown_->has_services()) {
    teardown_tick();
  }
}

// Those that could be ended. Flushes go in the name of the first one of a device, and translated
// requests without PASID in the name of one that all of a function share.
std::vector<std::uint32_t> IommuDriver::live_contexts() const {
  std::vector<std::uint32_t> live;
  for (std::uint32_t index = 0; index < pages_->domains(); ++index) {
    const DriverDomain& domain = pages_->domain(index);
    if (!domain.is_over && to_int(domain.id) != 0 && !domain.is_shared) {
      live.push_back(index);
    }
  }
  return live;
}

// Somebody ends a context; while one is being torn down, the next call waits.
void IommuDriver::teardown_tick() {
  if (!has_work_()) {
    return;
  }
  const std::vector<std::uint32_t> live = live_contexts();
  if (live.empty()) {
    return;
  }
  if (is_ready_ && teardown_->is_quiet()) {
    teardown_->end(live[random_.below(live.size())]);
  }
  call_again(config_.teardown_rate, teardown_due_, [this] { teardown_tick(); });
}

// At random, at this mean rate: from the time of the call before, not from the clock edge that it
// was heard on.
void IommuDriver::call_again(double per_second, Time& due, std::function<void()> what) {
  constexpr double kFsPerSecond = 1e15;
  const double gap = random_.exponential(kFsPerSecond / per_second);
  due += Time{1 + static_cast<std::int64_t>(gap)};
  background(due - now(), std::move(what));
}

// What is not waited for at the end of a run.
void IommuDriver::background(Time delay, std::function<void()> what) {
  const Time when = now() + delay;
  agenda_.emplace(when.fs, std::move(what));
  wakeup_.at(when);
}

void IommuDriver::work() {
  wakeup_.taken();
  while (!agenda_.empty() && agenda_.begin()->first <= now().fs) {
    const std::function<void()> what = std::move(agenda_.begin()->second);
    agenda_.erase(agenda_.begin());
    what();
  }
  if (!agenda_.empty()) {
    wakeup_.at(Time{agenda_.begin()->first});
  }
}

// Whoever made it, or else whom the host takes it for. Requests of no bytes touch nothing.
void IommuDriver::accessed(const Packet& packet, std::uint64_t address) {
  if ((packet.tlp.first_be | packet.tlp.last_be) == 0) {
    return;
  }
  const DeviceIdentity who = packet.has_identity ? packet.identity
                             : packet.resolved   ? *packet.resolved
                                                 : full_identity(packet.tlp);
  const bool is_untranslated = packet.tlp.at == AddressType::kUntranslated;
  pages_->frames().access(who, address, is_untranslated ? &packet.tlp.address : nullptr);
}

void IommuDriver::note_wait(Time delay) {
  waits_until_ = std::max(waits_until_, now() + delay);
}

bool IommuDriver::is_quiet() const {
  return (!is_started_ || is_ready_) && backlog_.empty() && batch_.empty() && !is_unmapping_ &&
         !is_serving_ && !is_taking_faults_ && requests_out_ == 0 && ring_.is_quiet() &&
         (!teardown_ || teardown_->is_quiet());
}

std::string IommuDriver::waiting() const {
  if (is_quiet()) {
    return "";
  }
  return fmt::format(
      "{}: {} unmaps wait, {} are under way, {} page requests are not answered{}{}\n", name(),
      backlog_.size(), batch_.size(), requests_out_,
      !teardown_ || teardown_->is_quiet() ? "" : ", a context is being torn down",
      is_ready_ ? "" : ", its queue is not enabled");
}

void IommuDriver::start_window() {
  count(window_);
  window_unmap_latency_ = unmap_latency_;
  if (teardown_) {
    teardown_->start_window();
  }
}

void IommuDriver::fill(IommuResult& result) const {
  IommuResult counted;
  count(counted);
  counted -= window_;
  result.maps = counted.maps;
  result.unmaps = counted.unmaps;
  result.page_requests_served = counted.page_requests_served;
  result.page_requests_refused = counted.page_requests_refused;
  result.faults_taken = counted.faults_taken;
  result.late_accesses = counted.late_accesses;
  result.teardowns = counted.teardowns;
}

void IommuDriver::count(IommuResult& result) const {
  result.maps = maps_;
  result.unmaps = unmaps_;
  result.page_requests_served = served_;
  result.page_requests_refused = refused_;
  result.faults_taken = faults_taken_;
  result.late_accesses = pages_ ? pages_->frames().late() : 0;
  result.teardowns = teardown_ ? teardown_->ended() : 0;
}

std::vector<LatencyResult> IommuDriver::latencies() const {
  std::vector<LatencyResult> all = {unmap_latency_.since(window_unmap_latency_).summary("unmap")};
  if (teardown_) {
    for (LatencyResult& one : teardown_->latencies()) {
      all.push_back(std::move(one));
    }
  }
  return all;
}

std::vector<CheckResult> IommuDriver::checks() const {
  if (!pages_) {
    return {};
  }
  const PageFrames& frames = pages_->frames();
  const std::string at = name();
  std::vector<CheckResult> all = {
      {at + ": every unmap ended", unmaps_ == freed_,
       fmt::format("{} pages unmapped, {} free again", unmaps_, freed_)},
      {at + ": every page request was answered", requests_out_ == 0,
       fmt::format("{} are not", requests_out_)},
      {at + ": no access by a stale translation", frames.stale() == 0,
       fmt::format("{} of {} accesses; {}", frames.stale(), frames.accesses(), frames.first())},
      {at + ": no access outside of its domain", frames.foreign() == 0,
       fmt::format("{} of {} accesses; {}", frames.foreign(), frames.accesses(), frames.first())}};
  if (has_permissions_) {
    const std::size_t wrong = pages_->wrong_permissions();
    all.push_back({at + ": permitted is what is mapped", wrong == 0,
                   fmt::format("{} words say something else", wrong)});
  }
  if (config_.teardown_rate > 0) {
    all.push_back({at + ": no request of a context that has ended", requests_after_end_ == 0,
                   fmt::format("{} contexts ended, {} faults of theirs", teardown_->ended(),
                               requests_after_end_)});
  }
  return all;
}

}  // namespace flitwise
