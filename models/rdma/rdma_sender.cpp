// SPDX-License-Identifier: Apache-2.0
#include "rdma/rdma_sender.h"

#include <boost/endian/conversion.hpp>

#include "flitwise/link_socket.h"

namespace flitwise {
namespace {

SeenWords completions_of(const HcaConfig& config) {
  const RdmaArea area = config.area(0);
  const std::uint64_t bytes = area.completions_bytes();
  return {area.completions_begin(), bytes, 1, bytes};
}

}  // namespace

RdmaSender::RdmaSender(const Site& site, const VerbsDriverConfig& config,
                       const WorkloadConfig& workload, const DeviceConfig& device,
                       const RunConfig& run)
    : site_(site),
      config_(config),
      warmup_(run.warmup),
      seen_(site.memory.watch(completions_of(config.hca))),
      hca_((site.name + "_hca").c_str(), site.name, config.hca,
           [&endpoint = site.endpoint] { endpoint.wake(); }),
      driver_((site.name + "_verbs").c_str(), site.name, config, workload, device, run, hooks()) {
  hca_.claim(site.endpoint.target().map());
  site.endpoint.attach(hca_.dma());
  seen_.on_write([this](Time when) { driver_.completion_at(when); });
}

void RdmaSender::start(Time now) {
  hca_.start();
  for (std::uint32_t pair = 0; pair < config_.hca.pairs; ++pair) {
    const auto& state = hca_.state_in_memory(pair);
    site_.memory.poke(config_.hca.area(pair).state(), state.data(), state.size());
  }
  if (!config_.posts) {  // it only serves, from now on
    site_.counting_starts(site_.index);
  }
  driver_.start(now);
}

VerbsDriver::Memory RdmaSender::memory_of(MemoryPort& memory) {
  return {[&memory](std::uint64_t address, const std::uint8_t* bytes, std::size_t size) {
            memory.poke(address, bytes, size);
          },
          [&memory](std::uint64_t address, std::uint8_t* bytes, std::size_t size) {
            memory.peek(address, bytes, size);
          }};
}

// These run for each request.
VerbsDriver::Hooks RdmaSender::hooks() {
  VerbsDriver::Hooks hooks;
  hooks.own = memory_of(site_.memory);
  hooks.peer = memory_of(site_.peer_memory);
  hooks.look = [this](std::uint64_t address) {
    return boost::endian::little_to_native(seen_.look(address, now()));
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
