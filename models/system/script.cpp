// SPDX-License-Identifier: Apache-2.0
// A machine driven line by line.
#include "system/script.h"

#include <algorithm>
#include <functional>
#include <istream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/problems.h"
#include "endpoint/script_engine.h"
#include "flitwise/error.h"
#include "script/script_line.h"
#include "system/machine.h"
#include "system/script_output.h"
#include "tlp/raw_packet.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

// How often the outcome of a DMA is looked for.
constexpr Time kSlice = Time::from_ns(20);
constexpr int kGood = 0;
constexpr int kBadLines = 2;

class Script {
 public:
  Script(std::ostream& out, const Config& config);

  void line(const std::string& text, int number);
  int finish();

 private:
  void execute(const Json& object, int number);
  void run(const PokeOp& op);
  void run(const PeekOp& op);
  void run(const TlpOp& op);
  void run(const DmaOp& op);
  void run(const RunOp& op);
  void run(const MmioOp& op);
  void run(const CfgOp& op);
  void run(const NotModelledOp& op);
  HostAnswer wait_for_host(const std::function<void(HostBridge::Done)>& access);
  void report_failure(const HostAnswer& answer);
  void observe(const Observation& observation);
  bool has_port(const std::string& name);
  void send(const DmaOp& op, ScriptEngine& engine);
  void wait_for_write(unsigned tlps);
  void wait_for_read(ScriptEngine& engine);
  void report_write(const DmaOp& op);
  void report_read(const DmaOp& op, const ScriptEngine& engine);
  void bad_value(const std::string& message);

  Machine machine_;
  ScriptOutput output_;
  std::map<std::string, std::unique_ptr<ScriptEngine>> engines_;  // by device
  std::uint32_t token_ = 0;                                       // of the operation at hand
  int line_ = 0;
  unsigned outcomes_ = 0;   // of its TLPs: written or refused
  unsigned refused_ = 0;    // of its TLPs, for any reason
  unsigned malformed_ = 0;  // of its TLPs: dropped without an answer
  bool is_good_ = true;
};

Script::Script(std::ostream& out, const Config& config) : machine_(config), output_(out) {
  const auto completed = [this](const Packet& packet, std::uint32_t token) {
    output_.completion(token, packet.tlp.tag, packet.tlp.status, packet.payload);
  };
  for (const std::string& name : machine_.device_names()) {
    auto engine = std::make_unique<ScriptEngine>(config, machine_.pool, completed);
    machine_.endpoint(name)->attach_raw(*engine);
    engines_.emplace(name, std::move(engine));
  }
  machine_.observe([this](const Observation& observation) { observe(observation); });
  machine_.bring_up();
  output_.start();
}

void Script::observe(const Observation& observation) {
  if (!machine_.is_serving()) {
    return;  // host software is bringing the machine up
  }
  output_.observed(observation);
  const std::string what = observation.what;
  if (observation.packet->request != token_ || token_ == 0 || what == "violation") {
    return;
  }
  malformed_ += what == "malformed_tlp" ? 1 : 0;
  refused_ += what != "message" && what != "committed" && what != "interrupt" ? 1 : 0;
  outcomes_ += what != "message" ? 1 : 0;
}

void Script::line(const std::string& text, int number) {
  if (text.find_first_not_of(" \t\r") == std::string::npos) {
    return;
  }
  line_ = number;
  const Json object = Json::parse(text, nullptr, false);
  if (object.is_array()) {
    is_good_ = false;  // lines of PIO send memory write no "done"
    output_.error(0, "not_modelled", "PIO send memory");
    return;
  }
  token_ = output_.begin(object.is_object() && object.contains("id") ? object["id"] : Json());
  outcomes_ = malformed_ = refused_ = 0;
  execute(object, number);
  output_.done(token_);
}

void Script::execute(const Json& object, int number) {
  if (!object.is_object()) {
    bad_value(object.is_discarded() ? "not JSON; expected an object such as {\"op\": \"run\", "
                                      "\"until\": \"idle\"}"
                                    : "expected a JSON object with op");
    return;
  }
  try {
    const ScriptLine parsed = parse_script_line(object, number);
    std::visit([this](const auto& op) { run(op); }, parsed.op);
  } catch (const ConfigError& error) {
    for (const Problem& problem : error.problems()) {
      bad_value(problem.path.empty() ? problem.message : problem.path + ": " + problem.message);
    }
  }
}

void Script::bad_value(const std::string& message) {
  is_good_ = false;
  output_.bad_line(token_, line_, message);
}

bool Script::has_port(const std::string& name) {
  if (engines_.count(name) != 0) {
    return true;
  }
  const std::vector<std::string> names = machine_.device_names();
  bad_value("port: unknown device '" + name + "'; expected " + config::alternatives(names) +
            config::nearest_hint(name, names, "device"));
  return false;
}

void Script::run(const PokeOp& op) {
  if (!machine_.memory().poke(op.address, op.bytes.data(), op.bytes.size())) {
    bad_value("addr: outside of host memory");
  }
}

void Script::run(const PeekOp& op) {
  std::vector<std::uint8_t> bytes(op.bytes);
  if (machine_.memory().peek(op.address, bytes.data(), bytes.size())) {
    output_.memory(token_, op.address, bytes);
    output_.data(token_, bytes);
  } else {
    bad_value("addr: outside of host memory");
  }
}

void Script::run(const TlpOp& op) {
  if (!has_port(op.port)) {
    return;
  }
  PacketRef packet = machine_.pool.make(PacketKind::kTlp);
  write_raw(*packet, op.bytes.data(), op.bytes.size());
  packet->request = token_;
  engines_.at(op.port)->send(std::move(packet));
  machine_.endpoint(op.port)->wake();
}

void Script::run(const DmaOp& op) {
  if (!has_port(op.port)) {
    return;
  }
  ScriptEngine& engine = *engines_.at(op.port);
  if (op.bytes > engine.most_bytes()) {
    bad_value("bytes: expected up to " + std::to_string(engine.most_bytes()) + " for one DMA");
    return;
  }
  send(op, engine);
}

void Script::send(const DmaOp& op, ScriptEngine& engine) {
  Endpoint& endpoint = *machine_.endpoint(op.port);
  ScriptDma dma;
  dma.is_write = op.is_write;
  dma.requester_id = op.requester_id.value_or(endpoint.base());
  dma.pasid = op.pasid;
  dma.at = op.at;
  dma.no_write = op.no_write;
  dma.execute = op.execute;
  dma.privileged = op.privileged;
  dma.address = op.address;
  dma.bytes = op.bytes;
  dma.data = op.data;
  dma.token = token_;
  const unsigned tlps = engine.start(dma, now());
  endpoint.wake();
  if (op.is_write) {
    wait_for_write(tlps);
    report_write(op);
  } else {
    wait_for_read(engine);
    report_read(op, engine);
  }
}

void Script::wait_for_write(unsigned tlps) {
  const Time patience = now() + machine_.config.run.deadlock_after;
  while (outcomes_ < tlps) {
    sc_core::sc_start(to_sc_time(kSlice));
    if (now() > patience) {
      throw SimulationError("a write of the script never arrived; what waits:\n" +
                            machine_.waiting());
    }
  }
}

// Refusals have been written already.
void Script::report_write(const DmaOp& op) {
  if (refused_ == 0) {
    output_.memory(token_, op.address, op.data);
  }
}

// A malformed request is dropped: nobody ever answers it.
void Script::wait_for_read(ScriptEngine& engine) {
  while (engine.requests_out() > malformed_ && now() < engine.deadline()) {
    sc_core::sc_start(to_sc_time(kSlice));
  }
}

void Script::report_read(const DmaOp& op, const ScriptEngine& engine) {
  for (const ScriptEngine::Failure& failure : engine.failures()) {
    output_.completion(token_, failure.tag, failure.status, {});
  }
  if (engine.requests_out() > malformed_) {
    output_.error(token_, "completion_timeout", "");
  }
  if (engine.failures().empty() && engine.requests_out() == 0) {
    output_.data(token_, engine.data());
  }
  engines_.at(op.port)->give_up();
}

void Script::run(const RunOp& op) {
  if (op.span) {
    sc_core::sc_start(to_sc_time(*op.span));
  } else {
    machine_.run_until_quiet();
  }
}

// A write is posted: it is on its way, and a read behind it finds it.
void Script::run(const MmioOp& op) {
  HostBridge& bridge = machine_.bridge();
  if (!op.is_write) {
    HostAnswer answer = wait_for_host(
        [&](HostBridge::Done done) { bridge.read(op.address, op.bytes, std::move(done)); });
    if (answer.is_ok()) {
      answer.data.resize(op.bytes);  // the host's own registers answer with a DW
      output_.data(token_, answer.data);
    } else {
      report_failure(answer);
    }
  } else if (!bridge.write(op.address, op.data.data(), op.data.size(), false)) {
    output_.error(token_, "unsupported_request", "unmapped_address");
  }
}

void Script::run(const CfgOp& op) {
  const unsigned first = op.offset % 4;
  CfgAccess access;
  access.write = op.is_write;
  access.target = op.target;
  access.offset = static_cast<std::uint16_t>(op.offset - first);
  access.value = op.value << 8 * first;
  access.byte_enables = static_cast<std::uint8_t>(((1U << op.bytes) - 1) << first);
  const HostAnswer answer = wait_for_host(
      [&](HostBridge::Done done) { machine_.bridge().config(access, std::move(done)); });
  if (!answer.is_ok()) {
    report_failure(answer);
  } else if (!op.is_write) {
    std::vector<std::uint8_t> bytes;
    for (unsigned byte = first; byte < first + op.bytes; ++byte) {
      bytes.push_back(static_cast<std::uint8_t>(answer.value() >> 8 * byte));
    }
    output_.data(token_, bytes);
  }
}

HostAnswer Script::wait_for_host(const std::function<void(HostBridge::Done)>& access) {
  std::optional<HostAnswer> answer;
  access([&answer](const HostAnswer& given) { answer = given; });
  while (!answer) {
    sc_core::sc_start(to_sc_time(kSlice));
  }
  return *answer;
}

void Script::report_failure(const HostAnswer& answer) {
  if (answer.is_timeout) {
    output_.error(token_, "completion_timeout", "");
  } else {
    output_.completion(token_, std::nullopt, answer.status, {});
  }
}

void Script::run(const NotModelledOp& op) {
  is_good_ = false;
  output_.error(token_, "not_modelled", op.what);
}

int Script::finish() {
  machine_.run_until_quiet();
  return is_good_ ? kGood : kBadLines;
}

}  // namespace

int script_command(std::istream& in, std::ostream& out, const Config& config) {
  Script script(out, config);
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    script.line(text, number);
  }
  const int code = script.finish();
  out.flush();
  return code;
}

}  // namespace flitwise
