// SPDX-License-Identifier: Apache-2.0
// The operations on a machine.
#include "script/script_session.h"

#include <stdexcept>

#include "common/problems.h"
#include "flitwise/error.h"
#include "results/result_json.h"
#include "scenario/event_words.h"
#include "tlp/tlp_check.h"
#include "tlp/tlp_codec.h"

namespace flitwise {

using json_value::hex_number;

namespace {

template <class Script>
Script& made(std::unique_ptr<Script>& script) {
  if (!script) {
    script = std::make_unique<Script>();
  }
  return *script;
}

}  // namespace

ScriptSession::ScriptSession(const Config& config, bool boots, bool watches_wires,
                             ScriptOutput& output)
    : machine_(config), output_(output) {
  const auto completed = [this](const Packet& packet, std::uint32_t token) {
    output_.completion(token, packet.tlp.tag, packet.tlp.status, packet.payload,
                       has_poisoned_data(packet.tlp));
  };
  for (const std::string& name : machine_.device_names()) {
    auto engine =
        std::make_unique<ScriptEngine>(config.link, config.device, machine_.pool, completed);
    machine_.endpoint(name)->attach_raw(*engine);
    engines_.emplace(name, std::move(engine));
  }
  machine_.observe([this](const Observation& observation) { observe(observation); });
  machine_.agent().add_hooks(
      {[this](const FaultRecord& record, std::uint32_t token) {
         output_.write(token, "fault",
                       {{"code", hex_number(record.code)},
                        {"rid", json_value::bdf_text(record.source)},
                        {"pasid", record.pasid ? Json(to_int(*record.pasid)) : Json()},
                        {"addr", hex_number(record.address)}});
       },
       [this](const IommuInterrupt& interrupt) {
         output_.write(0, "interrupt",
                       {{"addr", hex_number(interrupt.address)},
                        {"hex", json_value::hex_bytes(little_endian_bytes(interrupt.data, 4))},
                        {"at", "iommu0"}});
       }});
  if (boots) {
    machine_.bring_up();
    has_begun_ = true;
  } else {
    machine_.set_up_at_once();
  }
  output_.start();
  if (watches_wires) {
    output_.show_wires();
    watch_wires();
  }
}

bool ScriptSession::execute(const ScriptLine& line, std::uint32_t token) {
  token_ = token;
  outcomes_ = refused_ = 0;
  is_good_ = true;
  if (!std::holds_alternative<FaultOp>(line.op)) {
    begin();
  }
  try {
    std::visit([this](const auto& op) { run(op); }, line.op);
  } catch (const ConfigError& error) {  // of JSON that is understood when its turn comes
    bad_value(config::summary_of(error));
  } catch (const std::invalid_argument& problem) {  // of translation structures
    bad_value(problem.what());
  }
  return is_good_;
}

void ScriptSession::observe(const Observation& observation) {
  if (!machine_.is_serving()) {
    return;  // host software is bringing the machine up
  }
  const std::string what = observation.what;
  const bool is_own = waits_for_host_ && what == "completion_timeout";
  output_.observed(observation, is_own ? token_ : observation.packet->request);
  if (what == "malformed_tlp") {  // dropped: where it is a request it never gets an answer
    for (const auto& [name, engine] : engines_) {
      engine->dropped(*observation.packet);
    }
  }
  if (observation.packet->request != token_ || token_ == 0 || what == "violation" ||
      what == "warning") {
    return;
  }
  refused_ += what != "message" && what != "committed" && what != "interrupt" ? 1 : 0;
  outcomes_ += what != "message" ? 1 : 0;
}

void ScriptSession::bad_value(const std::string& message) {
  is_good_ = false;
  output_.bad_value(token_, message);
}

void ScriptSession::bad_name(const std::string& key, const std::string& kind,
                             const std::string& name, const std::vector<std::string>& names) {
  bad_value(key + ": unknown " + kind + " '" + name + "'; expected " + config::alternatives(names) +
            config::nearest_hint(name, names, kind));
}

bool ScriptSession::has_port(const std::string& name) {
  const bool is_there = engines_.count(name) != 0;
  if (!is_there) {
    bad_name("port", "device", name, machine_.device_names());
  }
  return is_there;
}

void ScriptSession::execute(const PioLine& line) {
  made(pio_).run(line, PioScript::Form::kLines,
                 [this](const Json& answer) { output_.write(answer); });
}

void ScriptSession::run(const PioOp& op) {
  made(pio_).run(op.line, PioScript::Form::kEvents, [this](const Json& answer) {
    output_.write(token_, answer["event"].get<std::string>().c_str(), answer);
  });
}

void ScriptSession::execute(const RdmaLine& line) {
  made(rdma_).run(line, [this](const Json& answer) { output_.write(answer); });
}

void ScriptSession::run(const RdmaOp& op) {
  made(rdma_).run(op.line, [this](const Json& answer) {
    output_.write(token_, answer["event"].get<std::string>().c_str(), answer);
  });
}

void ScriptSession::execute(const HcaLine& line) {
  made(hca_).run(line, [this](const Json& answer) { output_.write(answer); });
}

void ScriptSession::run(const HcaOp& op) {
  made(hca_).run(op.line, [this](const Json& answer) {
    output_.write(token_, answer["event"].get<std::string>().c_str(), answer);
  });
}

void ScriptSession::execute(const SrdmaLine& line) {
  made(srdma_).run(line, [this](const Json& answer) { output_.write(answer); });
}

void ScriptSession::run(const SrdmaOp& op) {
  made(srdma_).run(op.line, [this](const Json& answer) {
    output_.write(token_, answer["event"].get<std::string>().c_str(), answer);
  });
}

void ScriptSession::execute(const RcmLine& line) {
  made(rcm_).run(line, [this](const Json& answer) { output_.write(answer); });
}

void ScriptSession::run(const RcmOp& op) {
  made(rcm_).run(op.line, [this](const Json& answer) {
    output_.write(token_, answer["event"].get<std::string>().c_str(), answer);
  });
}

void ScriptSession::execute(const NetworkLine& line) {
  made(network_).run(line, [this](const Json& answer) { output_.write(answer); });
}

void ScriptSession::run(const NetworkOp& op) {
  made(network_).run(op.line, [this](const Json& answer) {
    output_.write(token_, answer["event"].get<std::string>().c_str(), answer);
  });
}

void ScriptSession::run(const PokeOp& op) {
  if (!machine_.memory().poke(op.address, op.bytes.data(), op.bytes.size())) {
    bad_value("addr: outside of host memory");
  }
}

void ScriptSession::run(const PeekOp& op) {
  std::vector<std::uint8_t> bytes(op.bytes);
  if (machine_.memory().peek(op.address, bytes.data(), bytes.size())) {
    output_.memory(token_, op.address, bytes);
    output_.data(token_, bytes);
  } else {
    bad_value("addr: outside of host memory");
  }
}

void ScriptSession::run(const TlpOp& op) {
  PacketRef packet = machine_.pool.make(PacketKind::kTlp);
  write_raw(*packet, op.bytes.data(), op.bytes.size());
  packet->request = token_;
  for (const auto& port : machine_.fabric().root_ports) {
    if (op.port == port->name()) {
      packet->is_raw = true;
      port->send(std::move(packet), Time{});
      return;
    }
  }
  if (!has_port(op.port)) {
    return;
  }
  engines_.at(op.port)->send(std::move(packet));
  machine_.endpoint(op.port)->wake();
}

void ScriptSession::run(const DmaOp& op) {
  if (!has_port(op.port)) {
    return;
  }
  ScriptEngine& engine = *engines_.at(op.port);
  if (op.bytes > engine.most_bytes()) {
    bad_value("bytes: expected up to " + std::to_string(engine.most_bytes()) + " for one DMA");
    return;
  }
  Endpoint& endpoint = *machine_.endpoint(op.port);
  const Bdf requester = op.requester_id.value_or(endpoint.base());
  const unsigned tlps = engine.start(op, requester, token_);
  endpoint.wake();
  if (op.is_write) {
    finish_write(op, tlps);
  } else {
    finish_read(requester, endpoint, engine);
  }
}

// A part that goes to a peer, or that a switch drops, tells nobody here: it is over when nothing is
// under way any more.
void ScriptSession::finish_write(const DmaOp& op, unsigned tlps) {
  machine_.run_until([&] { return outcomes_ >= tlps || machine_.is_quiet(); });
  if (outcomes_ >= tlps && refused_ == 0) {  // refusals have been written already
    output_.memory(token_, op.address, op.data);
  }
}

// What its function may not send for as long as a completion timeout is given up, and told as one;
// so is what never gets to the link. It is booked nowhere: nothing was sent. [LNK-9.27]
void ScriptSession::finish_read(Bdf requester, Endpoint& endpoint, ScriptEngine& engine) {
  const Time patience = now() + machine_.config.run.deadlock_after;
  Time held_since = now();
  while (engine.requests_out() > 0 && now() < held_since + engine.timeout()) {
    sc_core::sc_start(to_sc_time(kSlice));
    if (!engine.has_unsent() || (endpoint.may_send(requester) && now() < patience)) {
      held_since = now();
    }
  }
  for (const PacketRef& unsent : engine.give_up_unsent()) {
    endpoint.refuse(*unsent, "completion_timeout");
  }
  for (const ScriptEngine::Failure& failure : engine.failures()) {
    output_.completion(token_, failure.tag, failure.status, {}, failure.is_poisoned);
  }
  if (engine.failures().empty() && !engine.has_lost()) {
    output_.data(token_, engine.data());
  }
}

// A write is posted: it is on its way, and a read behind it finds it.
void ScriptSession::run(const MmioOp& op) {
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

HostAnswer ScriptSession::wait_for_host(const std::function<void(HostBridge::Done)>& access) {
  std::optional<HostAnswer> answer;
  access([&answer](const HostAnswer& given) { answer = given; });
  waits_for_host_ = true;
  while (!answer) {
    sc_core::sc_start(to_sc_time(kSlice));
  }
  waits_for_host_ = false;
  return *answer;
}

HostAnswer ScriptSession::wait_for_config(const CfgAccess& access) {
  return wait_for_host(
      [&](HostBridge::Done done) { machine_.bridge().config(access, std::move(done)); });
}

void ScriptSession::report_failure(const HostAnswer& answer) {
  if (!answer.is_timeout) {  // else the host has told of it
    output_.completion(token_, std::nullopt, answer.status, {}, answer.is_poisoned);
  }
}

Link* ScriptSession::link_of(const WireOp& wire) {
  std::vector<std::string> names;
  for (FabricLink& one : machine_.fabric().links) {
    if (wire.link.empty() || wire.link == one.name) {
      return one.link.get();
    }
    names.push_back(one.name);
  }
  bad_name("link", "link", wire.link, names);
  return nullptr;
}

void ScriptSession::run(const FaultOp& op) {
  if (Link* const link = link_of(op.wire)) {
    WireFault fault = op.fault;
    fault.token = token_;
    link->add_fault(op.wire.is_up ? LinkSide::kDownstream : LinkSide::kUpstream, fault);
  }
}

void ScriptSession::tell_missed_faults() {
  for (const FabricLink& one : machine_.fabric().links) {
    std::vector<MissedFault> missed;
    one.link->missed_faults(LinkSide::kUpstream, missed);
    one.link->missed_faults(LinkSide::kDownstream, missed);
    for (const MissedFault& each : missed) {
      output_.missed_fault(one.name, each);
    }
  }
}

void ScriptSession::run(const DllpOp& op) {
  if (Link* const link = link_of(op.wire)) {
    link->send_dllp(op.wire.is_up ? LinkSide::kDownstream : LinkSide::kUpstream, op.dllp);
  }
}

void ScriptSession::run(const ResultOp& op) {
  std::optional<Json> figure;
  const std::string errors = "errors.";
  if (op.path.rfind(errors, 0) == 0) {  // by kind; one that never happened is 0
    const std::map<std::string, std::uint64_t> counts = machine_.result().errors;
    const std::string kind = op.path.substr(errors.size());
    const auto found = counts.find(kind);
    if (found == counts.end() && !scenario::is_counted_error(kind)) {
      bad_value("path: no machine counts errors of kind " + kind +
                scenario::hint_of_counted_error(kind));
      return;
    }
    figure = found == counts.end() ? 0 : found->second;
  } else {
    figure = figure_of(result_json(machine_.result()), op.path);
  }
  if (figure) {
    output_.write(token_, "result", {{"path", op.path}, {"value", *figure}});
  } else {
    bad_value("path: no figure " + op.path +
              "; expected a path of result.json such as links.0.up.replays");
  }
}

}  // namespace flitwise
