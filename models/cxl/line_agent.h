// SPDX-License-Identifier: Apache-2.0
/// What agents share that have a core at a link: sockets, the core, requests that travel in its
/// packets, and what becomes of them when the link is lost. [CXL-7.2] [CXL-8.2]
#pragma once

#include <systemc>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/component.h"
#include "common/wakeup.h"
#include "cxl/cxl_outbox.h"
#include "cxl/line_core.h"
#include "flitwise/link_socket.h"
#include "flitwise/result.h"

namespace flitwise {

/// Agent derives from it and has a member rules_. Of it are asked:
/// void come(Packet&): a message; bool is_quiet() const;
/// of those whose core waits for the other end: bool is_asked(const CxlMessage&) const, is it a
/// request of the core; void count_asked(bool is_write, bool is_hit); void count_sent(message);
/// and what it does with a request beyond the default.
template <class Agent>
class LineAgent : public ComponentModule {
 public:
  LinkTarget<LineAgent> from_link{"from_link"};
  CxlOutbox to_link{"to_link"};

  /// Where the core's work comes from; it outlives the agent.
  void attach(Engine& engine) { core_.attach(engine); }
  /// The engine has work again.
  void wake() { wakeup_.at(now()); }
  void link_up() {
    is_down_ = false;
    wakeup_.at(now());
  }
  Time last_end() const override { return core_.last_completion(); }
  void add_progress(Progress& sum) const override { sum.completed += core_.lines_over(); }
  std::map<std::string, std::uint64_t> errors() const override {
    std::map<std::string, std::uint64_t> errors = core_.errors();
    errors["cxl_line_lost"] = lost_lines_;
    errors["unexpected_cxl_message"] = agent().rules_.bad_messages().total();
    return errors;
  }
  std::vector<CheckResult> checks() const override {
    return agent().is_quiet() ? std::vector{core_.check(name())} : std::vector<CheckResult>{};
  }
  void start_window() override {
    core_.start_window(now());
    to_link.start_window(now());
  }
  std::vector<WaitResult> waits() const override {
    return core_.waits(ids_, size_key_, to_link.waits(name(), ids_.direction.c_str()));
  }
  const auto& rules() const { return agent().rules_; }

 protected:
  /// `ids`: identifiers that it has; keys: what bounds them, and the size of its cache.
  LineAgent(const sc_core::sc_module_name& name, Time clock, PacketPool& pool, LineCore core,
            const char* direction, const char* ids_key, std::uint64_t ids, const char* size_key)
      : ComponentModule(name),
        pool_(pool),
        wakeup_("wakeup", clock),
        core_(std::move(core)),
        ids_{this->name(), "cxl_ids", ResourceRole::kSlots, direction, "", ids_key, ids},
        size_key_(size_key) {
    from_link.register_nb_transport_fw(this, &LineAgent::receive, 0);
    wakeup_.wakes("work_process", [this] { agent().work(); });
  }

  // By default the core asks as long as the link is up.
  void work() {
    wakeup_.taken();
    if (is_down_) {
      wakeup_.at(core_.tell_engine(now()));
      return;
    }
    wakeup_.at(core_.ask_for_lines(
        now(), agent().cache().lines_per_clock,
        [this](const CoreRequest& request) { return agent().obstacle(request); },
        [this](const CoreRequest& request, PacketRef packet) { ask(request, std::move(packet)); }));
  }
  void ask(const CoreRequest& request, PacketRef packet) {
    asking_ = std::move(packet);
    counts_ = asking_->counts;
    agent().request(request);
    agent().count_asked(request.is_write(), !results_.empty() && !results_.front().is_error);
    const Time lookup = agent().cache().lookup + agent().naming();
    agent().send_all(lookup);
    asking_.reset();
    core_.finish(results_, now() + lookup);
  }
  // What the core asks for travels in its own packet; an eviction that makes room for it does not.
  void send_out(Time ready) {
    for (const CxlOut& out : out_) {
      agent().count_sent(out.message);
      const bool is_asked = asking_ && agent().is_asked(out.message);
      PacketRef packet = is_asked ? asking_ : cxl_packet(pool_, out, counts_);
      if (is_asked) {
        put_into(*packet, out.message);
        agent().name_domain(*packet);
      }
      to_link.send(std::move(packet), ready);
    }
    out_.clear();
  }
  CoreObstacle obstacle(const CoreRequest& request) const {
    return agent().rules_.obstacle(request, core_.answers_under_way());
  }
  void request(const CoreRequest& request) { agent().rules_.request(request, out_, results_); }
  static void name_domain(const Packet& /*packet*/) {}
  static Time naming() { return {}; }
  /// What is out fails, and nothing is asked for until the link is up again.
  void lose(std::uint64_t lines) {
    is_down_ = true;
    to_link.clear();
    lost_lines_ += lines;
    core_.lose_all(now());
  }

  PacketPool& pool_;
  Wakeup wakeup_;
  LineCore core_;
  PacketRef asking_;    // the request that the core makes now
  bool counts_ = true;  // what is done now belongs to the measured part
  CxlOutput out_;       // both scratch
  CoreResults results_;

 private:
  const Agent& agent() const { return static_cast<const Agent&>(*this); }
  Agent& agent() { return static_cast<Agent&>(*this); }
  tlm::tlm_sync_enum receive(int /*id*/, Packet& packet, tlm::tlm_phase& /*phase*/,
                             sc_core::sc_time& /*delay*/) {
    counts_ = packet.counts;
    agent().come(packet);
    wakeup_.at(now());
    return tlm::TLM_COMPLETED;
  }

  const Resource ids_;
  const char* const size_key_;
  bool is_down_ = false;
  std::uint64_t lost_lines_ = 0;
};

}  // namespace flitwise
