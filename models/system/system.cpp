// SPDX-License-Identifier: Apache-2.0
// The facade over one machine.
#include "flitwise/system.h"

#include <fmt/format.h>

#include <systemc>
#include <utility>

#include "config/load.h"
#include "config_space/config_space.h"
#include "flitwise/error.h"
#include "results/summary_table.h"
#include "system/machine.h"
#include "system/network_machine.h"

namespace flitwise {
struct System::Machine : flitwise::Machine {
  using flitwise::Machine::Machine;
};
struct System::Network : NetworkMachine {
  using NetworkMachine::NetworkMachine;
};

System::System(const Config& config, const Attachments& attached) {
  FLITWISE_CHECK(
      sc_core::sc_get_time_resolution().to_seconds() < 2e-15,
      "the kernel does not count femtoseconds: call run_in_kernel(), or prepare_kernel() "
      "at the start of sc_main (flitwise/kernel.h)");
  if (config.network.mode == NetworkMode::kPacket) {
    FLITWISE_CHECK(
        attached.memory == nullptr && attached.engines.empty() && attached.devices.empty(),
        "attachments, and network.mode packet: there are no devices");
    network_ = std::make_unique<Network>(config);
  } else {
    machine_ = std::make_unique<Machine>(config, attached);
  }
}

System::System(const Config& config, MemorySocket& memory)
    : System(config, Attachments{&memory, {}, {}}) {}

System::~System() = default;

RunResult System::run() {
  if (network_) {
    network_->run();
    return report();
  }
  Machine& machine = *machine_;
  machine.bring_up();
  if (!machine.is_cut_short()) {
    machine.start();
    machine.run_until_quiet();
  }
  return report();
}

bool System::is_cut_short() const {
  return network_ ? network_->is_cut_short() : machine_->is_cut_short();
}

bool System::has_measured() const {
  return network_ ? network_->has_measured() : machine_->has_measured();
}

void System::report_progress(ProgressReport report) {
  network_ ? network_->report_progress(std::move(report))
           : machine_->report_progress(std::move(report));
}

Time System::step(Time span) {
  machine_->bring_up();
  machine_->extend_window();
  sc_core::sc_start(to_sc_time(span));
  return now();
}

Time System::step_until_idle() {
  machine_->bring_up();
  machine_->run_until_quiet();
  return now();
}

void System::inject(const std::string& device, PacketRef packet) {
  Endpoint* const endpoint = machine_->endpoint(device);
  FLITWISE_CHECK(endpoint != nullptr, "no device is called " + device);
  machine_->bring_up();
  endpoint->inject(std::move(packet));
}

void System::wake(const std::string& device) {
  Endpoint* const endpoint = machine_->endpoint(device);
  FLITWISE_CHECK(endpoint != nullptr, "no device is called " + device);
  endpoint->wake();
}

void System::poke(std::uint64_t address, const std::vector<std::uint8_t>& bytes) {
  FLITWISE_CHECK(machine_->memory().poke(address, bytes.data(), bytes.size()),
                 "poke outside of host memory");
}

std::vector<std::uint8_t> System::peek(std::uint64_t address, std::size_t bytes) const {
  std::vector<std::uint8_t> data(bytes);
  FLITWISE_CHECK(machine_->memory().peek(address, data.data(), bytes),
                 "peek outside of host memory");
  return data;
}

RunResult System::report() const {
  RunResult result = network_ ? network_->result() : machine_->result();
  const Config& config = network_ ? network_->config : machine_->config;
  result.config_json = effective_config(config).dump();
  result.config_sha256 = config_sha256(config);
  result.rows<ExplainResult>() =
      explain(result, [&config](Limit& limit) { advise(config, limit); });
  return result;
}

std::string System::config_space() {
  if (network_) {
    return "";
  }
  machine_->bring_up();
  std::string text;
  for (const auto& [function, space] : machine_->config_spaces()) {
    const auto& [host, bdf] = function;
    text += (host > 0 ? fmt::format("{:04x}:", host) : "") + config_dump(bdf, *space);
  }
  return text;
}

void System::observe(Observer observer) {
  machine_->observe(std::move(observer));
}

PacketPool& System::pool() {
  return machine_->pool;
}

}  // namespace flitwise
