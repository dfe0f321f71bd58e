// SPDX-License-Identifier: Apache-2.0
// The verbs of two ends of an RDMA connection, a row each.
#include <fmt/format.h>

#include <utility>

#include "script/rdma_actions.h"

namespace flitwise {

void RdmaActions::run(RdmaScript& script, const RdmaLine& /*line*/) {
  for (bool moves = true; moves;) {
    moves = false;
    for (unsigned end = 0; end < 2; ++end) {
      while (script.send(end)) {
        moves = true;
      }
    }
    for (unsigned end = 0; end < 2; ++end) {
      if (!script.ends_[end]->arriving.empty()) {
        script.deliver(end);
        moves = true;
      }
    }
  }
}

namespace {

void register_region(RdmaScript& script, const RdmaLine& line) {
  const auto& n = line.numbers;
  const std::optional<std::uint32_t> key = RdmaActions::end(script, line)
                                               .add_region({static_cast<std::uint32_t>(n[0]), n[1],
                                                            n[2], static_cast<std::uint8_t>(n[3])});
  if (!key) {
    RdmaActions::refuse(script, line,
                        fmt::format("{} bytes at {:#x} seen; expected a region within {:#x} bytes "
                                    "of memory, LW with RW or RA, and up to 64 regions",
                                    n[2], n[1], RdmaActions::end(script, line).memory().size()));
    return;
  }
  RdmaActions::tell(script, {{"event", "rdma_key"}, {"end", line.end}, {"key", *key}});
}

void deregister(RdmaScript& script, const RdmaLine& line) {
  if (!RdmaActions::end(script, line).keys().remove(static_cast<std::uint32_t>(line.numbers[0]))) {
    RdmaActions::refuse(script, line, fmt::format("{:#x} is no key", line.numbers[0]));
  }
}

void modify(RdmaScript& script, const RdmaLine& line) {
  QueuePair& pair = RdmaActions::end(script, line).pair();
  const QpState from = pair.state();
  if (!pair.modify(line.state)) {
    RdmaActions::refuse(script, line,
                        fmt::format("{} seen; it is in {}, which does not go there",
                                    name_of(line.state), name_of(from)));
  }
}

void post(RdmaScript& script, const RdmaLine& line) {
  const PostResult result = RdmaActions::end(script, line).pair().post_send(line.send);
  if (result != PostResult::kTaken) {
    RdmaActions::refuse(script, line, name_of(result));
  }
}

void post_receive(RdmaScript& script, const RdmaLine& line) {
  const PostResult result = RdmaActions::end(script, line).pair().post_receive(line.receive);
  if (result != PostResult::kTaken) {
    RdmaActions::refuse(script, line, name_of(result));
  }
}

bool is_in_rdma_memory(RdmaScript& script, const RdmaLine& line, std::uint64_t bytes) {
  const std::size_t all = RdmaActions::end(script, line).memory().size();
  const bool is_in = line.numbers[0] <= all && bytes <= all - line.numbers[0];
  if (!is_in) {
    RdmaActions::refuse(script, line,
                        fmt::format("{} bytes at {:#x} seen; expected memory up to {:#x}", bytes,
                                    line.numbers[0], all));
  }
  return is_in;
}

void poke_memory(RdmaScript& script, const RdmaLine& line) {
  if (is_in_rdma_memory(script, line, line.bytes.size())) {
    std::copy(line.bytes.begin(), line.bytes.end(),
              RdmaActions::end(script, line).memory().begin() +
                  static_cast<std::ptrdiff_t>(line.numbers[0]));
  }
}

void peek_memory(RdmaScript& script, const RdmaLine& line) {
  if (is_in_rdma_memory(script, line, line.numbers[1])) {
    RdmaActions::tell(script,
                      {{"event", "rdma_memory"},
                       {"end", line.end},
                       {"addr", json_value::hex_number(line.numbers[0])},
                       {"hex", json_value::hex_bytes(
                                   RdmaActions::end(script, line).memory().data() + line.numbers[0],
                                   line.numbers[1])}});
  }
}

void drop(RdmaScript& script, const RdmaLine& line) {
  if (std::deque<RdmaWirePacket>& wire = RdmaActions::arriving(script, line); !wire.empty()) {
    wire.pop_front();
  }
}

void duplicate(RdmaScript& script, const RdmaLine& line) {
  if (std::deque<RdmaWirePacket>& wire = RdmaActions::arriving(script, line);
      !wire.empty() && RdmaActions::has_room(script, line, line.end)) {
    wire.push_back(wire.front());
  }
}

void reorder(RdmaScript& script, const RdmaLine& line) {
  if (std::deque<RdmaWirePacket>& wire = RdmaActions::arriving(script, line); wire.size() > 1) {
    std::swap(wire[0], wire[1]);
  }
}

void damage(RdmaScript& script, const RdmaLine& line) {
  if (std::deque<RdmaWirePacket>& wire = RdmaActions::arriving(script, line); !wire.empty()) {
    wire.front().fields.is_intact = false;
  }
}

void inject(RdmaScript& script, const RdmaLine& line) {
  RdmaWirePacket packet = line.packet;
  if (!line.names_pair) {
    packet.fields.queue_pair = RdmaActions::end(script, line).pair().setup().number;
  }
  RdmaActions::take(script, line.end, packet);
}

void time_out(RdmaScript& script, const RdmaLine& line) {
  RdmaActions::end(script, line).pair().time_out(RdmaActions::now(script));
}

void end_rnr_wait(RdmaScript& script, const RdmaLine& line) {
  RdmaActions::end(script, line).pair().end_rnr_wait();
}

void poll(RdmaScript& script, const RdmaLine& line) {
  while (const auto done = RdmaActions::end(script, line).completions().poll()) {
    const bool is_good = done->status == WorkStatus::kSuccess;
    Json event = {{"event", "rdma_completion"},
                  {"end", line.end},
                  {"wr", done->id},
                  {"status", name_of(done->status)},
                  {"op", done->is_receive ? "RECV" : name_of(done->opcode)}};
    if (is_good) {
      event["bytes"] = done->bytes;
    }
    if (is_good && done->is_receive && done->opcode != WorkOpcode::kSend) {
      event[done->opcode == WorkOpcode::kSendInv ? "invalidated" : "imm"] = done->immediate;
    }
    RdmaActions::tell(script, event);
  }
}

void arm(RdmaScript& script, const RdmaLine& line) {
  RdmaActions::end(script, line).completions().arm(line.numbers[0] != 0);
}

void set_limit(RdmaScript& script, const RdmaLine& line) {
  RdmaActions::end(script, line).buffers().set_limit(line.numbers[0]);
}

void tell_pair(RdmaScript& script, const RdmaLine& line) {
  QueuePair& pair = RdmaActions::end(script, line).pair();
  const RcRequester& requester = pair.requester();
  Json event = {{"event", "rdma_pair"},
                {"end", line.end},
                {"state", name_of(pair.state())},
                {"waiting", requester.waiting()},
                {"unacknowledged", (requester.sent_end() - requester.oldest()) & kPsnMask},
                {"rnr_wait", requester.waits_for_rnr()},
                {"expected", pair.responder().expected()},
                {"msn", pair.responder().messages()},
                {"buffers", RdmaActions::end(script, line).buffers().size()},
                {"held", pair.held().size()},
                {"deepest", pair.deepest()}};
  for (int i = 0; i < kQpCounters; ++i) {
    const auto counter = static_cast<QpCounter>(i);
    event[name_of(counter)] = pair.count(counter);
  }
  RdmaActions::tell(script, event);
}

std::vector<RdmaVerb> joined(std::vector<RdmaVerb> verbs, const std::vector<RdmaVerb>& more) {
  verbs.insert(verbs.end(), more.begin(), more.end());
  return verbs;
}

}  // namespace

const std::vector<RdmaVerb>& rdma_verbs() {
  using A = RdmaArgument;
  static const std::vector<RdmaVerb> kVerbs = joined(
      {{"rdma", {A::kSetup}, RdmaActions::set_up},
       {"region", {A::kEnd, A::kNumber, A::kAddress, A::kAddress, A::kRights}, register_region},
       {"deregister", {A::kEnd, A::kNumber}, deregister},
       {"modify", {A::kEnd, A::kState}, modify},
       {"post", {A::kEnd, A::kSend}, post},
       {"receive", {A::kEnd, A::kReceive}, post_receive},
       {"poke", {A::kEnd, A::kAddress, A::kBytes}, poke_memory},
       {"peek", {A::kEnd, A::kAddress, A::kNumber}, peek_memory},
       {"send", {A::kEnd}, RdmaActions::send},
       {"deliver", {A::kEnd}, RdmaActions::deliver},
       {"drop", {A::kEnd}, drop},
       {"duplicate", {A::kEnd}, duplicate},
       {"swap", {A::kEnd}, reorder},
       {"damage", {A::kEnd}, damage},
       {"inject", {A::kEnd, A::kPacket}, inject},
       {"run", {}, RdmaActions::run},
       {"timeout", {A::kEnd}, time_out},
       {"rnr_over", {A::kEnd}, end_rnr_wait},
       {"poll", {A::kEnd}, poll},
       {"arm", {A::kEnd, A::kFlag}, arm},
       {"limit", {A::kEnd, A::kNumber}, set_limit},
       {"status", {A::kEnd}, tell_pair}},
      rdma_path_verbs());
  return kVerbs;
}

}  // namespace flitwise
