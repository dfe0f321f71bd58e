// SPDX-License-Identifier: Apache-2.0
// Start, interrupts and books.
#include "host/iommu_driver.h"

#include <fmt/format.h>

#include <iterator>

#include "tlp/identity.h"

namespace flitwise {
namespace reg = iommu_register;
namespace {

constexpr std::uint64_t kInterruptAddress = 0xfee0'0000;
constexpr std::uint64_t kWideDescriptors = std::uint64_t{1} << 11;  // IQA.DW

}  // namespace

IommuDriver::Threads::Threads(IommuDriver& driver, DriverPages own_pages)
    : parts(driver.host_, driver.iommu_, driver.seed_, driver.bridge_, driver.memory_,
            driver.background_, std::move(own_pages)),
      pages(parts),
      unmaps(parts, pages),
      teardown(parts),
      faults(parts, pages, [this] {
        unmaps.repeat();
        teardown.repeat();
      }) {}

IommuDriver::IommuDriver(const sc_core::sc_module_name& name, const HostConfig& config,
                         const IommuConfig& iommu, std::uint64_t seed, HostAccess& bridge,
                         MemoryPort& memory, std::string prefix)
    : ComponentModule(name),
      host_(config),
      iommu_(iommu),
      seed_(seed),
      prefix_(std::move(prefix)),
      bridge_(bridge),
      memory_(memory),
      background_(config.timing.clock) {}

void IommuDriver::take_over(DriverPages pages) {
  threads_.emplace(*this, std::move(pages));
}

void IommuDriver::start() {
  is_started_ = true;
  threads_->parts.registers.read(reg::kCap, 8, [this](std::uint64_t capabilities) {
    threads_->parts.capabilities = capabilities;
    const auto pages_log2 =
        static_cast<unsigned>(__builtin_ctzll(threads_->parts.config.page_request_queue / 4096));
    std::vector<AgentRegisters::Write> writes = {
        {reg::kIqt, 8, 0},
        {reg::kIqa, 8, kInvalidationQueue | kWideDescriptors | CommandRing::kSizeField},
        {reg::kPqh, 8, 0},
        {reg::kPqa, 8, kPageRequestQueue | pages_log2}};
    struct Message {
      IommuEvent event;
      std::uint32_t data, address, upper;
    };
    for (const Message& one :
         {Message{IommuEvent::kFault, reg::kFedata, reg::kFeaddr, reg::kFeuaddr},
          Message{IommuEvent::kInvalidation, reg::kIedata, reg::kIeaddr, reg::kIeuaddr},
          Message{IommuEvent::kPageRequest, reg::kPedata, reg::kPeaddr, reg::kPeuaddr}}) {
      writes.push_back({one.data, 4, static_cast<std::uint64_t>(one.event)});
      writes.push_back({one.address, 4, kInterruptAddress});
      writes.push_back({one.upper, 4, 0});
    }
    threads_->parts.registers.write(std::move(writes), [this] { enable_queue(); });
  });
}

// GCMD is written as a whole: what is on stays on. [IOM-1.4]
void IommuDriver::enable_queue() {
  AgentRegisters& registers = threads_->parts.registers;
  registers.read(reg::kGsts, 4, [this, &registers](std::uint64_t status) {
    const std::uint64_t lasting = status & ~std::uint64_t{global_bit::kRootTable};
    registers.write({{reg::kGcmd, 4, lasting | global_bit::kQueue},
                     {reg::kFectl, 4, 0},
                     {reg::kIectl, 4, 0},
                     {reg::kPectl, 4, 0}},
                    [this] { await_queue(); });
  });
}

void IommuDriver::await_queue() {
  threads_->parts.registers.read(reg::kGsts, 4, [this](std::uint64_t status) {
    threads_->parts.is_ready = (status & global_bit::kQueue) != 0;
    if (!threads_->parts.is_ready) {
      bridge_.after(threads_->parts.step, [this] { await_queue(); });
    }
  });
}

// The messages of the agent reach a core; each thread takes its time to wake up.
void IommuDriver::interrupted(IommuEvent event) {
  if (!is_started_) {
    return;
  }
  bridge_.after(host_.timing.mmio + threads_->parts.step, [this, event] {
    switch (event) {
      case IommuEvent::kFault:
        threads_->faults.serve();
        break;
      case IommuEvent::kInvalidation:
        threads_->parts.registers.write({{reg::kIcs, 4, 1}}, [this] { threads_->unmaps.poll(); });
        break;
      case IommuEvent::kPageRequest:
        threads_->pages.serve();
        break;
    }
  });
}

void IommuDriver::status_is_coming() {
  if (is_started_) {
    threads_->parts.polls.wake();
  }
}

void IommuDriver::begin(std::function<bool()> has_work) {
  threads_->parts.has_work = std::move(has_work);
  threads_->unmaps.begin();
  threads_->teardown.begin();
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
  threads_->parts.pages.frames().access(who, address,
                                        is_untranslated ? &packet.tlp.address : nullptr);
}

bool IommuDriver::is_quiet() const {
  return !threads_ || ((!is_started_ || is_ready()) && threads_->unmaps.is_quiet() &&
                       threads_->pages.is_quiet() && threads_->faults.is_quiet() &&
                       threads_->parts.ring.is_quiet() && threads_->teardown.is_quiet());
}

std::string IommuDriver::waiting() const {
  if (is_quiet()) {
    return "";
  }
  return fmt::format(
      "{}: {} unmaps wait, {} are under way, {} page requests are not answered{}{}\n", name(),
      threads_->unmaps.waiting(), threads_->unmaps.under_way(), threads_->pages.requests_out(),
      threads_->teardown.is_quiet() ? "" : ", a context is being torn down",
      is_ready() ? "" : ", its queue is not enabled");
}

void IommuDriver::add_progress(Progress& sum) const {
  if (!threads_) {
    return;
  }
  const IommuCounters& done = threads_->parts.counts;
  const std::uint64_t torn_down = threads_->teardown.progress();
  sum.steps += done.maps + done.unmaps + done.page_requests_served + done.page_requests_refused +
               done.faults_taken + threads_->parts.ring.written() + torn_down;
  sum.tended += done.unmaps + torn_down;
}

void IommuDriver::start_window() {
  window_ = counts();
  if (threads_) {
    window_latency_ = threads_->unmaps.latency();
    threads_->teardown.start_window();
  }
}

IommuCounters IommuDriver::counts() const {
  if (!threads_) {
    return {};
  }
  IommuCounters counts = threads_->parts.counts;
  counts.late_accesses = threads_->parts.pages.frames().late();
  counts.teardowns = threads_->teardown.ended();
  return counts;
}

void IommuDriver::report(RunResult& result) const {
  IommuCounters counted = counts();
  counted -= window_;
  for (const auto counter :
       {&IommuCounters::maps, &IommuCounters::unmaps, &IommuCounters::page_requests_served,
        &IommuCounters::page_requests_refused, &IommuCounters::faults_taken,
        &IommuCounters::late_accesses, &IommuCounters::teardowns}) {
    result.rows<IommuResult>().back().*counter = counted.*counter;
  }
  for (LatencyResult& latency : latencies()) {
    latency.name = prefix_ + latency.name;
    result.rows<LatencyResult>().push_back(std::move(latency));
  }
  if (threads_) {
    for (const auto& [kind, count] : threads_->parts.errors) {
      result.errors["iommu_driver_" + kind] += count;
    }
  }
}

// `unmap`, from the call to the page that is free, and those of contexts, if any were torn down.
std::vector<LatencyResult> IommuDriver::latencies() const {
  const LatencyHistogram unmaps = threads_ ? threads_->unmaps.latency() : LatencyHistogram();
  std::vector<LatencyResult> all = {unmaps.since(window_latency_).summary("unmap")};
  if (threads_) {
    std::vector<LatencyResult> more = threads_->teardown.latencies();
    std::move(more.begin(), more.end(), std::back_inserter(all));
  }
  return all;
}

std::vector<CheckResult> IommuDriver::checks() const {
  if (!threads_) {
    return {};
  }
  const DriverPages& pages = threads_->parts.pages;
  const PageFrames& frames = pages.frames();
  const std::string at = name();
  const std::uint64_t unmaps = threads_->parts.counts.unmaps, freed = threads_->unmaps.freed();
  const std::uint64_t out = threads_->pages.requests_out();
  std::vector<CheckResult> all = {
      {at + ": every unmap ended", unmaps == freed,
       fmt::format("{} pages unmapped, {} free again", unmaps, freed)},
      {at + ": every page request was answered", out == 0, fmt::format("{} are not", out)},
      {at + ": no access by a stale translation", frames.stale() == 0,
       fmt::format("{} of {} accesses; {}", frames.stale(), frames.accesses(), frames.first())},
      {at + ": no access outside of its domain", frames.foreign() == 0,
       fmt::format("{} of {} accesses; {}", frames.foreign(), frames.accesses(), frames.first())}};
  if (threads_->parts.has_permissions) {
    const std::size_t wrong = pages.wrong_permissions();
    all.push_back({at + ": permitted is what is mapped", wrong == 0,
                   fmt::format("{} words say something else", wrong)});
  }
  if (host_.iommu_driver.teardown_rate > 0) {
    const std::uint64_t late = threads_->faults.requests_after_end();
    all.push_back(
        {at + ": no request of a context that has ended", late == 0,
         fmt::format("{} contexts ended, {} faults of theirs", threads_->teardown.ended(), late)});
  }
  return all;
}

}  // namespace flitwise
