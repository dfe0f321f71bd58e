// SPDX-License-Identifier: Apache-2.0
// Wiring.
#include "system/machine.h"

#include <boost/range/algorithm_ext/push_back.hpp>

#include <map>
#include <utility>

#include "common/ranges.h"
#include "config/instances.h"
#include "config_space/config_space.h"
#include "flitwise/error.h"

namespace flitwise {
namespace {

// How often the end is looked for while work is left, and where nothing is measured.
constexpr Time kWorkSlice = Time::from_us(1);
constexpr Time kIdleSlice = Time::from_ns(20);
// How often the user's interrupt is looked for while nothing happens, and memory alone is at work.
constexpr Time kMemorySlice = Time::from_us(1000);

Hosts make_hosts(const Config& config, PacketPool& pool, MemorySocket* memory) {
  sc_core::sc_enable_name_checking = false;  // "h1.rp0" is the name of a root port
  Hosts hosts;
  for (unsigned number = 0; number < config.system.hosts; ++number) {
    hosts.push_back(std::make_unique<HostNode>(number, config_of_host(config, number), pool,
                                               number == 0 ? memory : nullptr));
  }
  return hosts;
}

}  // namespace

Machine::Machine(const Config& whole, const Attachments& attached)
    : config(whole),
      attached_(attached),
      tracer_(whole.trace.latency),
      traces_(whole.trace),
      hosts_(make_hosts(whole, pool, attached.memory)),
      fabric_(config, {pool, hosts_, tracer_,
                       [this](std::size_t device) { measurement_.open(device, true); },
                       [this] { work_ended(); },
                       [this](std::size_t device, const WorkItem& item, std::uint32_t token) {
                         software_.ring(device, item, token, measurement_.is_open(device));
                       },
                       [this](std::size_t device, unsigned function) {
                         return software_.device(device).bar_of(function);
                       },
                       attached_}),
      software_(fabric_, hosts_,
                [this](const HostNode& host, std::uint64_t address) {
                  isolation_[host.number]->software_wrote(address, 8);
                }),
      monitors_(fabric_, config),
      attacks_(config, fabric_),
      measurement_(fabric_.components) {
  for (FabricLink& one : fabric_.links) {
    one.link->hold_faults();
  }
  ComponentList& components = fabric_.components;
  components.add(software_);
  components.add(monitors_);
  for (const auto& host : hosts_) {
    isolation_.push_back(std::make_unique<IsolationWatch>(host->config, fabric_, *host));
    components.add(*isolation_.back());
  }
  components.add(attacks_);
  if (Convergence::is_wanted(config)) {
    convergence_.emplace(config.run.converged, fabric_, tracer_);
    // What ends after the last request was issued is less than the machine can do.
    tracer_.call_after(1, [this]() -> std::uint64_t {
      const std::uint64_t next = all_work_is_given_out() ? 0 : convergence_->look(now());
      if (convergence_->is_known()) {
        work_ended();
      }
      return convergence_->is_known() ? 0 : next;
    });
  }
  if (is_watched()) {
    observe({});
  }
}

// Some device is hostile.
bool Machine::is_watched() const {
  return any_of(isolation_, [](const auto& one) { return one->is_needed(); });
}

void Machine::serve() {
  if (is_serving_) {
    return;
  }
  is_serving_ = true;
  software_.set_up_translation_tables();
  measurement_.forget_errors();
  for (FabricLink& one : fabric_.links) {
    one.link->release_faults();
  }
  traces_.watch(fabric_, tracer_);
}

void Machine::start() {
  if (!hosts_[0]->boot && !software_.is_set_up()) {
    set_up_at_once();
  }
  serve();
  for (const auto& host : hosts_) {
    isolation_[host->number]->begin();
  }
  attacks_.begin();
  for (const auto& host : hosts_) {
    if (host->driver && !host->driver->is_started()) {
      host->driver->start();
    }
  }
  for (std::size_t i = 0; i < fabric_.devices.size(); ++i) {
    if (fabric_.devices[i].config.run.warmup == 0) {
      measurement_.open(i, false);
    }
  }
  is_started_ = true;
  for (FabricDevice& device : fabric_.devices) {
    const Config& c = device.config;
    fabric_.start_engine(device);
    const bool is_device_active = device.engine || device.sender;
    if (is_device_active && has_requests(c.workload.via) &&
        c.device.dhi.management == HandleManagement::kDevice) {
      device.endpoint->dhi().start_contexts(c.workload.domains, c.run.warmup == 0, now());
    }
    device.endpoint->wake();
  }
  for (const auto& host : hosts_) {
    if (host->driver) {
      host->driver->begin([this] { return !all_work_is_given_out(); });
    }
  }
}

// From here on every event is looked at: the slice ends.
void Machine::work_ended() {
  if (is_in_slice_) {
    sc_core::sc_pause();
  }
}

// A trace may have addresses in the BARs of a peer.
bool Machine::may_serve_peers(std::size_t device) const {
  const FabricDevice& own = fabric_.devices[device];
  return own.is_below_switch && any_of(fabric_.devices, [&](const FabricDevice& one) {
           return &one != &own && one.root_port == own.root_port &&
                  one.config.workload.kind == WorkloadKind::kTrace;
         });
}

// Ends the windows of devices whose last request is over; returns when to look again, at the
// latest, where some device is on its last requests.
std::optional<Time> Machine::close_devices() {
  std::optional<Time> next;
  for (std::size_t i = 0; i < components().devices(); ++i) {
    const ComponentList::Components& device = components().of(i);
    if (measurement_.is_closed(i) || may_serve_peers(i) ||
        !all_of(device, &Component::is_exhausted)) {
      continue;
    }
    const Time end = latest(device, &Component::last_end);
    if (all_of(device, &Component::is_done) && is_idle(i) && end <= now()) {
      measurement_.close(i);
    } else {
      const Time then = end > now() ? end : now() + kMemorySlice;
      next = std::min(next.value_or(then), then);
    }
  }
  return next;
}

// Lets so much time pass, in which the links of a machine that only waits cost nothing.
void Machine::let_pass(Time span) {
  for (FabricLink& one : fabric_.links) {
    one.link->rest();
  }
  sc_core::sc_start(to_sc_time(span));
  for (FabricLink& one : fabric_.links) {
    one.link->wake();
  }
}

// Runs until the end of the slice in which something happens next: before that no component changes
// its mind, save where a wire gets rid of its last symbol, or memory of its last byte.
void Machine::run_slices(Time slice) {
  const sc_core::sc_time to_next = sc_core::sc_time_to_pending_activity();
  Time span = slice;
  if (to_next > to_sc_time(slice) &&
      none_of(fabric_.links, [](const FabricLink& one) { return one.link->is_sending(); })) {
    const Time rest = rest_of_last_request();
    const Time longest = rest > Time{} ? std::min(rest, kMemorySlice) : kMemorySlice;
    const auto next = static_cast<std::int64_t>(std::min(to_next, to_sc_time(longest)).value());
    span = next_edge(Time{next}, slice);
  }
  sc_core::sc_start(to_sc_time(span));
}

// Runs in slices as long as work is given out, and from one event to the next while a device is on
// its last requests, so that windows end with them; what remains are Acks and credits.
void Machine::advance() {
  if (!is_started_ || measurement_.is_closed()) {
    const bool is_memory_alone = all_of(components().all(), &Component::is_idle);
    const Time alone = is_memory_alone ? rest_of_last_request() : Time{};
    if (alone > kWorkSlice) {
      let_pass(std::min(alone, kMemorySlice));
    } else if (alone > kIdleSlice) {
      sc_core::sc_start(to_sc_time(alone));
    } else {
      run_slices(kIdleSlice);
    }
    return;
  }
  const std::optional<Time> next = close_devices();
  if (!next && !all_work_is_given_out()) {
    const Time own_wait = rest_of_own_wait();
    is_in_slice_ = true;
    own_wait > kWorkSlice ? let_pass(own_wait) : run_slices(kWorkSlice);
    is_in_slice_ = false;
    if (convergence_ && convergence_->is_known()) {
      for (Component* const one : components().all()) {
        one->end_work();
      }
    }
  } else if (is_exhausted() && all_of(components().all(), &Component::is_idle)) {
    if (const Time rest = rest_of_last_request(); rest > Time{}) {
      const Time to_next = next ? *next - now() : rest;
      sc_core::sc_start(to_sc_time(std::min({rest, to_next, kMemorySlice})));
    }
    if (rest_of_last_request() == Time{}) {
      measurement_.close();
    }
  } else {
    const sc_core::sc_time longest = to_sc_time(next.value_or(now() + kMemorySlice) - now());
    sc_core::sc_start(std::min(sc_core::sc_time_to_pending_activity(), longest));
  }
}

std::string Machine::waiting() const {
  return sum_of(components().all(), &Component::waiting);
}

RunResult Machine::result() const {
  traces_.flush();
  RunResult result;
  result.trace_notes = traces_.notes();
  result.seed = config.run.seed;
  result.rows<LatencyResult>() = tracer_.results();
  result.rows<HopResult>() = tracer_.hops();
  measurement_.fill(result);
  if (convergence_) {
    convergence_->report(result);
  }
  if (is_cut_short_) {
    return result;
  }
  const bool is_at_rest = is_quiet();
  for (const Component* one : components().all()) {
    boost::range::push_back(result.checks, one->checks());
    if (is_at_rest) {
      boost::range::push_back(result.checks, one->checks_at_rest());
    }
  }
  return result;
}

std::map<std::pair<unsigned, Bdf>, const ConfigSpace*> Machine::config_spaces() {
  std::map<std::pair<unsigned, Bdf>, const ConfigSpace*> spaces;
  for (const auto& host : hosts_) {
    if (!host->boot) {
      return {};
    }
    for (unsigned port = 0; port < host->bridge.ports(); ++port) {
      spaces[{host->number, host->bridge.bdf_of(port)}] = &host->bridge.space(port);
    }
  }
  for (std::size_t i = 0; i < fabric_.switches.size(); ++i) {
    const Switch& one = *fabric_.switches[i];
    const unsigned host = fabric_.graph[fabric_.graph.switches()[i]].host;
    spaces[{host, one.bdf_of(kUpstreamPort)}] = &one.config_space(kUpstreamPort);
    for (unsigned port = 0; port < one.downstream_ports(); ++port) {
      const auto number = static_cast<std::uint16_t>(port);
      spaces[{host, one.bdf_of(number)}] = &one.config_space(number);
    }
  }
  for (std::size_t i = 0; i < fabric_.devices.size(); ++i) {
    const unsigned host = fabric_.devices[i].host;
    TargetUnit& target = fabric_.devices[i].endpoint->target();
    const Bdf pf = software_.device(i).pf;
    const VirtualFunctions vfs = target.virtual_functions();
    spaces[{host, pf}] = &target.space(0);
    for (unsigned vf = 0; vf < vfs.count; ++vf) {
      spaces[{host, vfs.bdf(pf, vf)}] = &target.space(vf + 1);
    }
  }
  return spaces;
}

void Machine::observe(Observer observer) {
  observer_ = std::move(observer);
  if (is_watched()) {
    observer_ = [this, then = std::move(observer_)](const Observation& seen) {
      for (const auto& one : isolation_) {
        one->notice(seen);
      }
      attacks_.notice(seen);
      if (then) {
        then(seen);
      }
    };
  }
  for (Component* const one : components().all()) {
    one->observe(observer_);
  }
}

Endpoint* Machine::endpoint(const std::string& name) {
  FabricDevice* const device = fabric_.find(name);
  return device == nullptr ? nullptr : device->endpoint;
}

std::vector<std::string> Machine::device_names() const {
  return mapped(fabric_.devices, &FabricDevice::name);
}

}  // namespace flitwise
