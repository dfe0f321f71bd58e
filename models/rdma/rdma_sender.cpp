// SPDX-License-Identifier: Apache-2.0
#include "rdma/rdma_sender.h"

#include <boost/endian/conversion.hpp>

#include "flitwise/link_socket.h"

namespace flitwise {
namespace {

SeenWords completions_of(const HcaConfig& config, std::uint64_t shift) {
  const RdmaArea area = config.area(0);
  const std::uint64_t bytes = area.completions_bytes();
  return {area.completions_begin() + shift, bytes, 1, bytes};
}

}  // namespace

RdmaSender::RdmaSender(const Site& site, const VerbsDriverConfig& config,
                       const WorkloadConfig& workload, const DeviceConfig& device,
                       const RunConfig& run)
    : site_(site),
      config_(config),
      warmup_(run.warmup),
      hca_((site.name + "_hca").c_str(), site.name, config.hca,
           [&endpoint = site.endpoint] { endpoint.wake(); }),
      driver_((site.name + "_verbs").c_str(), site.name, config, workload, device, run, hooks()) {
  hca_.claim(site.endpoint.target().map());
  site.endpoint.attach(hca_.dma());
  if (config.hca.rdma.pretranslation.is_on) {
    add_eps();
  }
}

void RdmaSender::add_eps() {
  Eps::Hooks hooks;
  hooks.touched = [this](std::uint32_t token, bool is_translated) {
    hca_.dma().touched(token, is_translated);
  };
  hooks.counts = [this] { return hca_.is_counted(); };
  eps_.emplace((site_.name + "_eps").c_str(), site_.name, config_.hca,
               std::vector<DomainId>{DomainId{0}}, std::move(hooks));
  eps_->claim(site_.endpoint.target().map());
  eps_->connect(site_.endpoint.attach(eps_->structures()));
  hca_.dma().use_structures();
}

// The driver of the function tells where its structures lie, before the first doorbell. [EP-1]
void RdmaSender::write_registers() {
  const HcaConfig& hca = config_.hca;
  const std::uint64_t registers = site_.bar(site_.index) + hca.registers();
  for (const StructurePlace& one : structures_at(hca.geometry, hca.buffer_base)) {
    const std::uint64_t words[] = {
        boost::endian::native_to_little(one.address),
        boost::endian::native_to_little(one.bytes | StructureRegisters::kAllowed)};
    for (std::size_t i = 0; i < std::size(words); ++i) {
      site_.bridge.write(registers + StructureRegisters::offset_of(one.structure) + 8 * i,
                         reinterpret_cast<const std::uint8_t*>(&words[i]), sizeof(words[i]),
                         hca_.is_counted());
    }
  }
}

void RdmaSender::start(Time now) {
  shift_ = site_.buffers() - config_.hca.buffer_base;
  peer_shift_ = site_.peer_buffers() - config_.hca.peers.front().buffer_base;
  seen_ = &site_.memory.watch(completions_of(config_.hca, shift_));
  seen_->on_write([this](Time when) { driver_.completion_at(when); });
  hca_.start();
  for (std::uint32_t pair = 0; pair < config_.hca.pairs; ++pair) {
    const auto& state = hca_.state_in_memory(pair);
    site_.memory.poke(config_.hca.area(pair).state() + shift_, state.data(), state.size());
  }
  if (!config_.posts) {  // it only serves, from now on
    site_.counting_starts(site_.index);
  }
  if (eps_) {
    write_registers();
  }
  driver_.start(now);
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
VerbsDriver::Hooks RdmaSender::hooks() {
  VerbsDriver::Hooks hooks;
  hooks.own = memory_of(site_.memory, shift_);
  hooks.peer = memory_of(site_.peer_memory, peer_shift_);
  hooks.look = [this](std::uint64_t address) {
    return boost::endian::little_to_native(seen_->look(address + shift_, now()));
  };
  hooks.ring = [this](Doorbell bell) { ring(bell); };
  hooks.command = [this](const std::uint8_t* bytes, std::size_t size) { store(bytes, size); };
  hooks.begins = [this] {
    if (begun_++ == warmup_) {
      site_.counting_starts(site_.index);
    }
  };
  hooks.work_ended = site_.work_ended;
  return hooks;
}

void RdmaSender::store(const std::uint8_t* bytes, std::size_t size) {
  const std::uint64_t begin = site_.bar(site_.index) + config_.hca.commands();
  for (std::size_t at = 0; at < size; at += kCommandLine) {
    site_.bridge.write(begin + at, bytes + at, kCommandLine, hca_.is_counted());
  }
}

void RdmaSender::ring(Doorbell bell) {
  const std::uint64_t word = boost::endian::native_to_little(bell.encode());
  site_.bridge.write(site_.bar(site_.index) + config_.hca.doorbell,
                     reinterpret_cast<const std::uint8_t*>(&word), sizeof(word), hca_.is_counted());
}

}  // namespace flitwise
