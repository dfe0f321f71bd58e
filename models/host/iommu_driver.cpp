// SPDX-License-Identifier: Apache-2.0
// Start, interrupts and books.
#include "host/iommu_driver.h"

#include <fmt/format.h>

#include "tlp/identity.h"

namespace flitwise {
namespace reg = iommu_register;
namespace {

constexpr std::uint64_t kInterruptAddress = 0xfee0'0000;
constexpr std::uint64_t kWideDescriptors = std::uint64_t{1} << 11;  // IQA.DW

}  // namespace

IommuDriver::IommuDriver(const sc_core::sc_module_name& name, const HostConfig& config,
                         const IommuConfig& iommu, std::uint64_t seed, HostAccess& bridge,
                         MemoryPort& memory, std::string prefix)
    : ComponentModule(name),
      mmio_(config.timing.mmio),
      prefix_(std::move(prefix)),
      parts_(config, iommu, seed, bridge, memory),
      pages_(parts_),
      unmaps_(parts_, pages_),
      teardown_(parts_),
      faults_(parts_, pages_, [this] {
        unmaps_.repeat();
        teardown_.repeat();
      }) {}

std::uint64_t IommuDriver::physical_of(const DeviceIdentity& who, std::uint64_t address) const {
  const DriverPages& pages = parts_.pages;
  const auto index = has_pages_ ? pages.find(who.bdf, who.pasid, address) : std::nullopt;
  if (!index || !pages.page(*index).frame) {
    return address;
  }
  const std::uint64_t offset = address & PageRange::mask_of(pages.page_bits());
  return pages.frames().physical(*pages.page(*index).frame) + offset;
}

void IommuDriver::start() {
  is_started_ = true;
  parts_.registers.read(reg::kCap, 8, [this](std::uint64_t capabilities) {
    parts_.capabilities = capabilities;
    const auto pages_log2 =
        static_cast<unsigned>(__builtin_ctzll(parts_.config.page_request_queue / 4096));
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
    parts_.registers.write(std::move(writes), [this] { enable_queue(); });
  });
}

// GCMD is written as a whole: what is on stays on. [IOM-1.4]
void IommuDriver::enable_queue() {
  AgentRegisters& registers = parts_.registers;
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
  parts_.registers.read(reg::kGsts, 4, [this](std::uint64_t status) {
    parts_.is_ready = (status & global_bit::kQueue) != 0;
    if (!parts_.is_ready) {
      parts_.bridge.after(parts_.step, [this] { await_queue(); });
    }
  });
}

// The messages of the agent reach a core; each thread takes its time to wake up.
void IommuDriver::interrupted(IommuEvent event) {
  if (!is_started_) {
    return;
  }
  parts_.bridge.after(mmio_ + parts_.step, [this, event] {
    switch (event) {
      case IommuEvent::kFault: faults_.serve(); break;
      case IommuEvent::kInvalidation:
        parts_.registers.write({{reg::kIcs, 4, 1}}, [this] { unmaps_.poll(); });
        break;
      case IommuEvent::kPageRequest: pages_.serve(); break;
    }
  });
}

void IommuDriver::begin(std::function<bool()> has_work) {
  parts_.has_work = std::move(has_work);
  unmaps_.begin();
  teardown_.begin();
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
  parts_.pages.frames().access(who, address, is_untranslated ? &packet.tlp.address : nullptr);
}

bool IommuDriver::is_quiet() const {
  return (!is_started_ || is_ready()) && unmaps_.is_quiet() && pages_.is_quiet() &&
         faults_.is_quiet() && parts_.ring.is_quiet() && teardown_.is_quiet();
}

std::string IommuDriver::waiting() const {
  if (is_quiet()) {
    return "";
  }
  return fmt::format(
      "{}: {} unmaps wait, {} are under way, {} page requests are not answered, {} commands go to "
      "its agent{}{}\n",
      name(), unmaps_.waiting(), unmaps_.under_way(), pages_.requests_out(), parts_.ring.waiting(),
      teardown_.is_quiet() ? "" : ", " + teardown_.waiting(),
      is_ready() ? "" : ", its queue is not enabled");
}

void IommuDriver::count_repeats(Counts& counts) const {
  for (const auto& [kind, count] : parts_.errors) {
    counts[name() + (": " + kind)] += count;
  }
}

void IommuDriver::add_progress(Progress& sum) const {
  const IommuCounters& done = parts_.counts;
  const std::uint64_t torn_down = teardown_.progress();
  sum.steps += done.maps + done.unmaps + done.page_requests_served + done.page_requests_refused +
               done.faults_taken + parts_.ring.written() + torn_down;
  sum.tended += done.unmaps + torn_down;
}

void IommuDriver::start_window() {
  window_ = counts();
  window_latency_ = unmaps_.latency();
  teardown_.start_window();
  pages_.use.start_window(now());
  parts_.ring.use.start_window(now());
}

std::vector<WaitResult> IommuDriver::waits() const {
  const auto of = [this](const char* thread, const UseClock& use) {
    WaitResult row{{name(), thread, ResourceRole::kServer, "up", "", "host.iommu_driver.step", 1}};
    row.peak = use.peak();
    row.busy = use.mean(now());
    return row;
  };
  return {of("page_requests", pages_.use), of("commands", parts_.ring.use)};
}

IommuCounters IommuDriver::counts() const {
  IommuCounters counts = parts_.counts;
  counts.late_accesses = parts_.pages.frames().late();
  counts.teardowns = teardown_.ended();
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
  for (const auto& [kind, count] : parts_.errors) {
    result.errors["iommu_driver_" + kind] += count;
  }
}

// `unmap`, from the call to the page that is free, and those of contexts, if any were torn down.
std::vector<LatencyResult> IommuDriver::latencies() const {
  std::vector<LatencyResult> all = teardown_.latencies();
  all.insert(all.begin(), unmaps_.latency().since(window_latency_).summary("unmap"));
  return all;
}

std::vector<CheckResult> IommuDriver::checks() const {
  if (!has_pages_) {
    return {};
  }
  const DriverPages& pages = parts_.pages;
  const PageFrames& frames = pages.frames();
  const std::string at = name();
  const std::uint64_t unmaps = parts_.counts.unmaps, freed = unmaps_.freed();
  const std::uint64_t out = pages_.requests_out();
  std::vector<CheckResult> all = {
      {at + ": every unmap ended", unmaps == freed,
       fmt::format("{} pages unmapped, {} free again", unmaps, freed)},
      {at + ": every page request was answered", out == 0, fmt::format("{} are not", out)},
      {at + ": no access by a stale translation", frames.stale() == 0,
       fmt::format("{} of {} accesses; {}", frames.stale(), frames.accesses(), frames.first())},
      {at + ": no access outside of its domain", frames.foreign() == 0,
       fmt::format("{} of {} accesses; {}", frames.foreign(), frames.accesses(), frames.first())}};
  if (parts_.has_permissions) {
    const std::size_t wrong = pages.wrong_permissions();
    all.push_back({at + ": permitted is what is mapped", wrong == 0,
                   fmt::format("{} words say something else", wrong)});
  }
  if (parts_.config.teardown_rate > 0) {
    const std::uint64_t late = faults_.requests_after_end();
    all.push_back({at + ": no request of a context that has ended", late == 0,
                   fmt::format("{} contexts ended, {} faults of theirs", teardown_.ended(), late)});
  }
  return all;
}

}  // namespace flitwise
