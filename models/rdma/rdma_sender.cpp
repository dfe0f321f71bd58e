// SPDX-License-Identifier: Apache-2.0
#include "rdma/rdma_sender.h"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <utility>

#include "common/random.h"
#include "flitwise/link_socket.h"

namespace flitwise {
namespace {

SeenWords completions_of(const HcaConfig& config, std::uint64_t shift) {
  const RdmaArea area = config.area(0);
  return {area.completions_begin() + shift, config.geometry.buffer, config.function_count(),
          area.completions_bytes()};
}

// An equal part for each function.
std::uint64_t part_of(std::uint64_t requests, const VerbsDriverConfig& config) {
  const std::uint32_t functions = config.hca.function_count();
  return requests / functions + (config.place < requests % functions ? 1 : 0);
}

}  // namespace

RdmaSender::RdmaSender(const Site& site, const VerbsDriverConfig& config,
                       const WorkloadConfig& workload, const DeviceConfig& device,
                       const RunConfig& run)
    : site_(site),
      config_(config),
      warmup_(run.warmup),
      guest_functions_(config.hca.function_count()),
      peer_shifts_(site.peers.size()),
      hca_((site.name + "_hca").c_str(), site.name, config.hca,
           [&endpoint = site.endpoint] { endpoint.wake(); }) {
  for (VerbsDriverConfig own = config; own.place < config.hca.function_count(); ++own.place) {
    own.is_attacked = config.is_attacked || config.hca.is_hostile(own.place) ||
                      own.place + config.hostile_at_peer >= config.hca.function_count();
    if (config.hca.is_hostile(own.place)) {
      add_guest(own, part_of(workload.requests + run.warmup, own), device,
                Random(run.seed).split("hostile guest"));
    } else {
      add_driver(own, workload, device, run);
    }
  }
  if (!config.hca.rdma.shares.later.empty()) {
    control_ =
        std::make_unique<ControlVm>((site.name + "_control").c_str(), [this] { command_shares(); });
  }
  connect_resets();
  hca_.claim(site.endpoint.target().map());
  site.endpoint.attach(hca_.dma());
  if (config.hca.rdma.pretranslation.is_on) {
    add_eps();
  }
  if (config.verbs.waits_for_interrupt) {
    site.port.watch_interrupts(
        [this](const Packet& packet, Time when) { interrupt(packet, when); });
  }
  if (config.is_attacked || config.hca.hostile_functions + config.hostile_at_peer > 0) {
    guard_.emplace(site.name, config);
    site.port.watch_memory(
        [this, functions = device.functions.count](const Packet& packet, std::uint64_t address) {
          const unsigned function = packet.identity.bdf.value - site_.endpoint.base().value;
          if (packet.has_identity && function < functions) {
            guard_->see(packet, address - shift_);
          }
        });
  }
}

void RdmaSender::write_states(std::uint32_t place) {
  for (std::uint32_t pair = place; pair < config_.hca.pairs; pair += config_.hca.function_count()) {
    write_state(pair);
  }
}

void RdmaSender::write_state(std::uint32_t pair) {
  const auto& state = hca_.state_in_memory(pair);
  site_.memory.poke(config_.hca.area(pair).state() + shift_, state.data(), state.size());
}

void RdmaSender::add_eps() {
  Eps::Hooks hooks;
  hooks.touched = [this](std::uint32_t token, bool is_translated) {
    hca_.dma().touched(token, is_translated);
  };
  hooks.counts = [this] { return hca_.is_counted(); };
  const std::vector<unsigned>& functions = config_.hca.functions;
  std::vector<DomainId> domains(functions.back() + 1);
  for (std::uint32_t place = 0; place < config_.hca.function_count(); ++place) {
    domains[functions[place]] = DomainId{place};
  }
  eps_.emplace((site_.name + "_eps").c_str(), site_.name, config_.hca, std::move(domains),
               std::move(hooks));
  eps_->claim(site_.endpoint.target().map());
  eps_->connect(site_.endpoint.attach(eps_->structures()));
  hca_.dma().use_structures(config_.hca.function_count());
}

// The driver of a function tells where its structures lie, before the first doorbell. [EP-1]
void RdmaSender::write_registers(std::uint32_t place) {
  const HcaConfig& hca = config_.hca;
  const std::uint64_t first_buffer = hca.buffer_base + place * hca.geometry.buffer;
  for (const StructurePlace& one : structures_at(hca.geometry, first_buffer)) {
    const std::uint64_t offset = hca.registers() + StructureRegisters::offset_of(one.structure);
    write(place, offset, one.address);
    write(place, offset + 8, one.bytes | StructureRegisters::kAllowed);
  }
}

// Software of a function has its part of the work, as if it were all.
void RdmaSender::add_driver(const VerbsDriverConfig& config, const WorkloadConfig& workload,
                            const DeviceConfig& device, const RunConfig& run) {
  WorkloadConfig own_work = workload;
  own_work.domains = config.hca.pairs_of_each() / config.hca.function_count() +
                     (config.place < config.hca.pairs_of_each() % config.hca.function_count());
  own_work.requests = part_of(workload.requests, config);
  RunConfig own_run = run;
  own_run.warmup = part_of(run.warmup, config);
  std::string function;
  if (config.hca.function_count() > 1) {
    function = "f" + std::to_string(config.hca.functions[config.place]);
    own_run.seed = Random(run.seed).split(function).next();
  }
  const std::string module = site_.name + "_verbs" + (function.empty() ? "" : "_" + function);
  const std::string label = site_.name + (function.empty() ? "" : "_" + function);
  drivers_.push_back(std::make_unique<VerbsDriver>(module.c_str(), label, config, own_work, device,
                                                   own_run, hooks(config.place)));
}

void RdmaSender::compare_with(const RdmaSender& peer) {
  for (std::size_t place = 0; place < std::min(drivers_.size(), peer.drivers_.size()); ++place) {
    drivers_[place]->compare_with(*peer.drivers_[place]);
  }
}

// Software begins when all queue pairs are in RTS.
void RdmaSender::start(Time /*now*/) {
  shift_ = site_.buffers() - config_.hca.buffer_base;
  for (std::size_t peer = 0; peer < site_.peers.size(); ++peer) {
    peer_shifts_[peer] = site_.peers[peer].buffers() - config_.hca.peers[peer].buffer_base;
  }
  seen_ = &site_.memory.watch(completions_of(config_.hca, shift_));
  seen_->on_write([this](std::uint64_t address, Time when) {
    const std::uint64_t place =
        (address - shift_ - config_.hca.buffer_base) / config_.hca.geometry.buffer;
    if (place < drivers_.size()) {
      drivers_[place]->completion_at(when);
    }
  });
  hca_.start();
}

void RdmaSender::begin(Time now) {
  for (std::uint32_t place = 0; eps_ && place < config_.hca.function_count(); ++place) {
    write_registers(place);
  }
  // The hypervisor carries out commands of one function after the other.
  Time begin = now;
  std::uint32_t place = 0;
  for (const auto& driver : drivers_) {
    begin += set_up_time(place++);
    driver->start(now, begin);
  }
  for (const auto& guest : guests_) {
    begin += set_up_time(place++);
    guest->start(begin, registers_of(place - 1));
  }
  if (control_ != nullptr) {
    control_->start(now + config_.hca.rdma.shares.change_at);
  }
}

VerbsDriver::Memory RdmaSender::memory_of(MemoryPort& memory, const std::uint64_t& shift) {
  return {[&memory, &shift](std::uint64_t address, const std::uint8_t* bytes, std::size_t size) {
            memory.poke(address + shift, bytes, size);
          },
          [&memory, &shift](std::uint64_t address, std::uint8_t* bytes, std::size_t size) {
            memory.peek(address + shift, bytes, size);
          }};
}

// These run for each request.
VerbsDriver::Hooks RdmaSender::hooks(std::uint32_t place) {
  VerbsDriver::Hooks hooks;
  hooks.own = memory_of(site_.memory, shift_);
  for (std::size_t peer = 0; peer < site_.peers.size(); ++peer) {
    hooks.peers.push_back(memory_of(site_.peers[peer].memory, peer_shifts_[peer]));
  }
  hooks.look = [this](std::uint64_t address) {
    return boost::endian::little_to_native(seen_->look(address + shift_, now()));
  };
  hooks.ring = [=](Doorbell bell) { write(place, config_.hca.doorbell, bell.encode()); };
  hooks.arm = [=](CompletionArm order) { write(place, config_.hca.arms(), order.encode()); };
  hooks.command = [=](const std::uint8_t* bytes, std::size_t size) { store(place, bytes, size); };
  hooks.begins = [this] { count(); };
  hooks.work_ended = site_.work_ended;
  return hooks;
}

// Commands of a virtual function's driver are trapped: for each queue pair three regions, two rings
// and its state, and the four steps to RTS; and two completion queues. model: which they are.
Time RdmaSender::set_up_time(std::uint32_t place) const {
  constexpr std::int64_t kCommandsOfPair = 10;
  const bool is_physical = config_.hca.functions[place] == 0;
  return is_physical ? Time{}
                     : config_.verbs.timing.trap *
                           (kCommandsOfPair * config_.hca.pairs_of(place) + kCompletionQueues);
}

void RdmaSender::command_shares() {
  std::uint32_t place = 0;
  for (const unsigned weight : config_.hca.rdma.shares.later) {
    std::uint64_t word = ShareCommand{place++, weight}.encode();
    boost::endian::native_to_little_inplace(word);
    site_.bridge.write(site_.bar(site_.index, 0) + config_.hca.shares(),
                       reinterpret_cast<const std::uint8_t*>(&word), sizeof(word),
                       hca_.is_counted());
  }
}

// A work request begins, or an act of a guest: the window does with the first behind the warm-up,
// and that of a device that only serves with the first of those that ask it.
void RdmaSender::count() {
  if (begun_++ != warmup_) {
    return;
  }
  site_.counting_starts(site_.index);
  for (const std::size_t served : site_.served) {
    site_.counting_starts(served);
  }
}

void RdmaSender::add_guest(const VerbsDriverConfig& config, std::uint64_t acts,
                           const DeviceConfig& device, Random random) {
  HostileGuest::Hooks hooks;
  hooks.poke = memory_of(site_.memory, shift_).poke;
  hooks.store = [this, place = config.place](std::uint64_t offset, const std::uint8_t* bytes,
                                             std::size_t size) {
    site_.bridge.write(bar_of(place) + offset, bytes, size, hca_.is_counted());
  };
  if (config.hca.functions[config.place] != 0) {
    hooks.configure = [this, place = config.place](std::uint16_t offset, std::uint32_t value,
                                                   std::uint8_t enables,
                                                   std::function<void()> done) {
      configure(place, offset, value, enables, std::move(done));
    };
  }
  hooks.shut_down = [this, place = config.place](std::function<void()> done) {
    shut_down(place, std::move(done));
  };
  hooks.begins = [this] { count(); };
  hooks.work_ended = site_.work_ended;
  const std::string function = "f" + std::to_string(config.hca.functions[config.place]);
  guests_.push_back(std::make_unique<HostileGuest>((site_.name + "_guest_" + function).c_str(),
                                                   config, acts, device.functions.bar_size,
                                                   random.split(function), std::move(hooks)));
}

void RdmaSender::store(std::uint32_t place, const std::uint8_t* bytes, std::size_t size) {
  const std::uint64_t begin = bar_of(place) + config_.hca.commands();
  for (std::size_t at = 0; at < size; at += kCommandLine) {
    site_.bridge.write(begin + at, bytes + at, kCommandLine, hca_.is_counted());
  }
}

void RdmaSender::write(std::uint32_t place, std::uint64_t offset, std::uint64_t word) {
  boost::endian::native_to_little_inplace(word);
  site_.bridge.write(bar_of(place) + offset, reinterpret_cast<const std::uint8_t*>(&word),
                     sizeof(word), hca_.is_counted());
}

// One of this device: it names a completion queue.
void RdmaSender::interrupt(const Packet& packet, Time when) {
  if (packet.tlp.address != config_.hca.interrupt_address ||
      packet.payload.size() < sizeof(std::uint32_t)) {
    return;
  }
  const std::uint32_t queue = boost::endian::load_little_u32(packet.payload.data());
  if (queue < kCompletionQueues * drivers_.size()) {
    drivers_[queue / kCompletionQueues]->interrupt(queue % kCompletionQueues, when);
  }
}

}  // namespace flitwise
