// SPDX-License-Identifier: Apache-2.0
// What comes of lines of PIO send memory, as lines and as events.
#include "script/pio_script.h"

#include <fmt/format.h>

namespace flitwise {
namespace {

// "664 685", in the order of contexts.
std::string interrupts_text(const std::vector<unsigned>& interrupts) {
  std::string text;
  for (const unsigned number : interrupts) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", number);
  }
  return text.empty() ? "none" : text;
}

std::vector<unsigned> interrupts_of(const CreditReturn& entry) {
  std::vector<unsigned> numbers;
  const unsigned first = kFirstCreditInterrupt + entry.context / kContextsPerSet * kContextsPerSet;
  for (unsigned place = 0; place < kContextsPerSet; ++place) {
    if ((entry.interrupts >> place & 1U) != 0) {
      numbers.push_back(first + place);
    }
  }
  return numbers;
}

Json event_of(const char* name, const LaunchedPacket& packet) {
  return {{"event", name},
          {"vl", packet.vl},
          {"source", packet.source},
          {"block", packet.place % kCreditRing}};
}

}  // namespace

void PioScript::run(const PioLine& line, Form form, const Sink& sink) {
  form_ = form;
  sink_ = sink;
  line.verb->apply(*this, line);
  while (!holds_returns_ && engine_.has_return()) {
    const CreditReturn& entry = engine_.first_return();
    const ReturnGroup group = engine_.group_of_context(entry.context);
    for (unsigned context = group.first; context < group.first + group.size; ++context) {
      credits_[context].take(entry.qws[context % kContextsPerSet]);
    }
    tell(entry);
    engine_.take_return();
  }
  for (unsigned engine = 0; engine < kSdmaEngines; ++engine) {
    tell_sdma(engine);
  }
}

void PioScript::tell_committed(const LaunchedPacket& packet) {
  if (form_ == Form::kLines) {
    sink_({{"wire", {packet.vl, packet.source, packet.place % kCreditRing}}});
    return;
  }
  Json event = event_of("pio_wire", packet);
  if (engine_.has_bytes(packet)) {
    event["bytes"] = engine_.pbc_of(packet).wire_bytes();
  }
  sink_(event);
}

void PioScript::tell_cleared(const LaunchedPacket& packet) {
  if (form_ == Form::kLines) {
    return;
  }
  Json event = event_of("pio_cleared", packet);
  if (engine_.has_bytes(packet)) {
    event["hex"] = json_value::hex_bytes(engine_.bytes_of(packet));
  }
  sink_(event);
}

void PioScript::tell(const CreditReturn& entry) {
  if (form_ == Form::kLines) {
    sink_({{"addr", entry.address},
           {"qw", entry.qws},
           {"ctx", entry.context},
           {"irq", interrupts_of(entry)}});
    return;
  }
  Json event = {{"event", "credit_return"},
                {"addr", json_value::hex_number(entry.address)},
                {"ctx", entry.context}};
  for (unsigned place = 0; place < kContextsPerSet; ++place) {
    event[fmt::format("qw{}", place)] = json_value::hex_number(entry.qws[place]);
  }
  event["irq"] = interrupts_text(interrupts_of(entry));
  sink_(event);
}

}  // namespace flitwise
