// SPDX-License-Identifier: Apache-2.0
#include "pio/pio_sender.h"

#include <boost/endian/conversion.hpp>

#include "flitwise/link_socket.h"

namespace flitwise {

PioSender::PioSender(const Site& site, const PioCoreConfig& config, const WorkloadConfig& workload,
                     const DeviceConfig& device, const RunConfig& run)
    : site_(site),
      config_(config),
      warmup_(run.warmup),
      seen_(site.memory.watch(workload.buffer_base, workload.buffer_size, workload.domains)),
      engine_((site.name + "_pio").c_str(), site.name, config.engine,
              [&endpoint = site.endpoint] { endpoint.wake(); }) {
  engine_.claim(site.endpoint.target().map());  // software may write to its window at any time
  engine_.compare_with([this] { return sent(); });
  site.endpoint.attach(engine_.returns());
  if (config.engine.uses_sdma) {
    site.endpoint.attach(engine_.sdma());
    driver_.emplace(config.engine, hooks_of_driver());
  }
  PioCoreConfig own = config;
  for (unsigned i = 0; i < config.cores.count; ++i) {
    own.first_thread = i * config.cores.threads;
    cores_.push_back(std::make_unique<PioCore>((site.name + "_core" + std::to_string(i)).c_str(),
                                               own, workload, device, run, hooks_of_cores()));
  }
  site.endpoint.when_reset([this] { device_was_reset(); });
  site.port.watch_posted([this] { return wake_next(); });
  if (config.cores.credit_wait == DriverWait::kInterrupt) {
    site.port.watch_interrupts(
        [this](const Packet& packet, Time when) { interrupt(packet, when); });
  }
}

void PioSender::start(Time now) {
  engine_.start(now);
  for (const auto& core : cores_) {
    core->start(now);
  }
}

// These run for each packet, and most of them for each block.
PioCore::Hooks PioSender::hooks_of_cores() {
  PioCore::Hooks hooks;
  hooks.has_room = [this] { return site_.port.posted_waiting() < config_.cores.write_queue; };
  hooks.write = [this](std::uint64_t offset, const std::uint8_t* bytes, std::size_t size) {
    write(offset, bytes, size);
  };
  hooks.look = [this](std::uint64_t address) { return look(address); };
  hooks.look_at_rest = [this](std::uint64_t address) { return site_.memory.peek_u64(address); };
  hooks.begins = [this](unsigned context, unsigned slot, Time when) {
    count();
    engine_.begins(context, slot, when);
  };
  hooks.send_by_sdma = [this](unsigned domain, std::uint32_t payload, unsigned vl, Time when) {
    return send_by_sdma(domain, payload, vl, when);
  };
  hooks.returned = [this](unsigned context) { return engine_.rules().context(context).returned(); };
  hooks.are_returns_lost = [this] { return site_.port.counters().dropped_bytes > 0; };
  hooks.recovery = {&site_.bridge, [this] { return site_.bar(site_.index, 0) + kPioRegisters; },
                    [this](std::uint64_t address) { site_.memory.poke_u64(address, 0); },
                    config_.cores.timing.credit_poll};
  hooks.given_up = [this] { count(); };
  hooks.work_ended = site_.work_ended;
  return hooks;
}

SdmaDriver::Hooks PioSender::hooks_of_driver() {
  SdmaDriver::Hooks hooks;
  hooks.look = [this](std::uint64_t address) { return look(address); };
  hooks.store = [this](std::uint64_t address, const std::uint8_t* bytes, std::size_t size) {
    site_.memory.poke(address, bytes, size);
  };
  hooks.write = [this](std::uint64_t offset, const std::uint8_t* bytes, std::size_t size) {
    write(offset, bytes, size);
  };
  hooks.restart = [this] { return engine_.restart_sdma(); };
  hooks.set_to_0 = [this](std::uint64_t address) { site_.memory.poke_u64(address, 0); };
  return hooks;
}

// Host software that has a device reset tells its driver, which tells the threads. [PIO-9.9]
void PioSender::device_was_reset() {
  engine_.reset();
  for (const auto& core : cores_) {
    core->device_was_reset();
  }
  if (driver_) {
    driver_->stop();
  }
}

bool PioSender::send_by_sdma(unsigned domain, std::uint32_t payload, unsigned vl, Time when) {
  const bool is_sent = driver_->send(domain, payload, vl);
  if (is_sent) {
    count();
    engine_.sdma_begins(driver_->engine_of(domain), Pbc::of_payload(payload).blocks(), when);
  }
  return is_sent;
}

std::uint64_t PioSender::look(std::uint64_t address) {
  return boost::endian::little_to_native(seen_.look(address, now()));
}

// To an offset of BAR 0.
void PioSender::write(std::uint64_t offset, const std::uint8_t* bytes, std::size_t size) {
  site_.bridge.write(site_.bar(site_.index, 0) + offset, bytes, size, engine_.is_counted());
}

// A packet begins: the window does with the first one behind the warm-up.
void PioSender::count() {
  if (begun_++ == warmup_) {
    site_.counting_starts(site_.index);
  }
}

// The IIO has room: for the next core in turn that waits for it. False: none does.
bool PioSender::wake_next() {
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    turn_ = (turn_ + 1) % cores_.size();
    if (cores_[turn_]->waits_for_room()) {
      cores_[turn_]->wake();
      return true;
    }
  }
  return false;
}

// One of this device: for the thread that has the context.
void PioSender::interrupt(const Packet& packet, Time when) {
  if (packet.tlp.address != config_.engine.interrupt_address || packet.payload.size() < 4) {
    return;
  }
  const std::uint32_t number = boost::endian::load_little_u32(packet.payload.data());
  const unsigned context = number - kFirstCreditInterrupt;
  if (context < config_.engine.contexts) {
    const unsigned thread = context % config_.all_threads();
    cores_[thread / config_.cores.threads]->interrupt(thread % config_.cores.threads, when);
  }
}

PioSent PioSender::sent() const {
  PioSent sum;
  for (const auto& core : cores_) {
    sum.packets += core->sent().packets;
    sum.bytes += core->sent().bytes;
    sum.is_out = sum.is_out && core->sent().is_out;
  }
  return sum;
}

}  // namespace flitwise
