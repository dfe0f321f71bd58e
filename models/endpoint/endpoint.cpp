// SPDX-License-Identifier: Apache-2.0
// The parts of a device, what they count, and what they wait for.
#include "endpoint/endpoint.h"

#include <fmt/format.h>

#include <boost/range/algorithm_ext/push_back.hpp>

#include "codec/json_value.h"
#include "endpoint/has_ats.h"
#include "faults/broken_rules.h"
#include "link/transaction_queues.h"
#include "workload/workload.h"

namespace flitwise {

EndpointConfig EndpointConfig::of(const Config& config) {
  EndpointConfig own;
  own.device = config.device;
  own.device.rdma.pretranslation.is_on =
      config.device.rdma.pretranslation.is_on && config.workload.via == WorkloadVia::kRdma;
  own.link = config.link;
  own.message = config.message;
  own.faults = config.faults;
  own.domains = domain_ids(config.workload);
  own.at = config.workload.at;
  own.real_payload = config.workload.real_payload;
  own.buffer_base = config.workload.buffer_base;
  own.stops_contexts = config.host.iommu_driver.teardown_rate > 0;
  own.uses_handles = config.uses_handles();
  own.seed = config.run.seed;
  const auto& table = config.host.dhi;
  if (table.table == HostDhiTable::kShared &&
      table.entries < HandleRange::of_bits(config.device.dhi.bits).size()) {
    own.handles_key = "host.dhi.entries";
  }
  return own;
}

Endpoint::Endpoint(const sc_core::sc_module_name& name, const EndpointConfig& config,
                   PacketPool& pool, LatencyTracer& tracer)
    : ComponentModule(name),
      config_(config),
      sizer_(config.link, config.message, config.device.dhi.bits),
      functions_(config.device, config.domains),
      contexts_(config.stops_contexts ? config.domains : 0),
      shell_(config.device.timing.clock, config.device.timing.pipeline, sizer_, functions_,
             contexts_, counters_),
      parts_{pool, sizer_, functions_, control_, shell_, *this},
      requests_(config, parts_, contexts_, counters_, tracer),
      handles_(config, parts_, requests_),
      target_(config.device, config.link, parts_, *this),
      registers_(config.device.functions.count, config.device.functions.bar_size,
                 {[this](const HandleCommand& command) { execute(command); },
                  [this] {
                    if (contexts_.are_tracked()) {
                      resets_.check_context_stop(now());
                    }
                  }}),
      resets_(functions_, contexts_, shell_, *this) {
  control_ = {static_cast<std::uint32_t>(config.link.mps),
              static_cast<std::uint32_t>(config.link.mrrs), config.device.dma.relaxed_ordering,
              config.device.dma.id_based_ordering, config.device.dma.no_snoop};
  if (has_ats(config.device)) {
    translations_ = std::make_unique<TranslatedPath>(config, parts_, target_.page_requests(),
                                                     requests_, handles_);
    translations_->set_hook(broken_invalidations(config.faults));
  }
  registers_.claim(target_.map());
  shell_.connect(requests_, *this, *this);
  requests_.set_hooks(broken_requests(config.faults), broken_tags(config.faults));
  requests_.connect(handles_, translations_.get());
}

void Endpoint::attach(Engine& engine) {
  engine.claim(target_.map());
  shell_.attach(engine);
}

TranslationInterface& Endpoint::attach(StaticTranslations& firmware) {
  FLITWISE_CHECK(translations_ != nullptr, "firmware that translates, and a device without ATS");
  translations_->statics().attach(firmware);
  return translations_->statics();
}

void Endpoint::watch_translations(TranslatedPath::Watch watch) {
  if (translations_ != nullptr) {
    translations_->watch(std::move(watch));
  }
}

bool Endpoint::is_quiet() const {
  return shell_.is_quiet() && requests_.is_quiet() && target_.is_quiet() &&
         (translations_ == nullptr || translations_->unit().parked.empty());
}

void Endpoint::start_window() {
  handles_.start_window(now());
  if (translations_ != nullptr) {
    translations_->unit().start_window();
  }
  shell_.start_window(now());
  requests_.start_window(now());
}

StallTimes Endpoint::stalls() const {
  StallTimes stalls{};
  stalls.tags = requests_.tag_stall(now()).time;
  stalls.handle = handles_.stall(now()).time;
  return stalls;
}

std::vector<AtsResult> Endpoint::ats_results() const {
  return translations_ != nullptr ? translations_->unit().results(name())
                                  : std::vector<AtsResult>{};
}

void Endpoint::report(RunResult& result) const {
  boost::range::push_back(result.rows<AtsResult>(), ats_results());
}

void Endpoint::count_repeats(Counts& counts) const {
  Component::count_repeats(counts);
  counts[name() + std::string(": flushes sent")] = dhi().flushes();
  for (const AtsResult& function : ats_results()) {
    counts[function.function + ": Translation Requests sent"] = function.requests;
    counts[function.function + ": Page Requests sent"] = function.page_requests;
  }
}

std::vector<WaitResult> Endpoint::waits() const {
  const auto row = [](Resource resource, const StallCount& waited) {
    return WaitResult{std::move(resource), waited.count, waited.time, waited.time};
  };
  const std::uint64_t tags = requests_.tags_per_function() * functions_.with_domains();
  std::vector<WaitResult> all = {
      shell_.waits(name(), queue_room(config_.link.queue_depth)),
      row({name(), "tags", ResourceRole::kSlots, "up", "read", "device.tag_bits", tags},
          requests_.tag_stall(now()))};
  if (config_.uses_handles) {
    const HandleRange range = dhi().table() != nullptr
                                  ? dhi().table()->range()
                                  : HandleRange::of_bits(config_.device.dhi.bits);
    all.push_back(row({name(), "handles", ResourceRole::kSlots, "up", "", config_.handles_key,
                       std::uint64_t{range.size()}},
                      handles_.stall(now())));
  }
  if (translations_ != nullptr) {
    boost::range::push_back(all, translations_->unit().parked.waits(
                                     name(), config_.device.atc.requests, config_.device.pri));
  }
  return all;
}

std::vector<CheckResult> Endpoint::checks() const {
  std::vector<CheckResult> all = requests_.checks(name());
  if (translations_ != nullptr) {
    boost::range::push_back(all, translations_->unit().checks(name()));
  }
  return all;
}

// What the present transfer waits for.
std::string Endpoint::awaited_by(unsigned function) const {
  const std::string bdf = json_value::bdf_text(functions_.bdf_of(function));
  if (functions_.is_in_reset(function)) {
    return "the end of the reset of " + bdf;
  }
  if (!functions_.is_bus_master()) {
    return "Bus Master Enable of " + json_value::bdf_text(base());
  }
  return functions_.is_running(function) ? "a tag, a handle or room in the link's queues"
                                         : "Bus Master Enable of " + bdf;
}

std::string Endpoint::waiting() const {
  std::string text;
  if (requests_.outstanding() > 0) {
    text += fmt::format("{}: {} requests wait for completions, the oldest has tag {}\n", name(),
                        requests_.outstanding(), requests_.oldest_tag());
  }
  if (requests_.held_tags() > 0) {
    text += fmt::format("{}: {} tags are held back, since late completions may come for them\n",
                        name(), requests_.held_tags());
  }
  if (shell_.has_unsent()) {
    text +=
        fmt::format("{}: {} packets wait for room in the link's queues\n", name(), shell_.unsent());
  }
  if (requests_.is_busy()) {
    const DomainId domain = requests_.present_domain();
    text += fmt::format("{}: a transfer of domain {} waits for {}\n", name(), to_int(domain),
                        awaited_by(functions_.function_of(domain)));
  }
  const auto say = [&](const char* who, const std::string& what) {
    text += what.empty() ? "" : fmt::format("{}: {}: {}\n", name(), who, what);
  };
  say("target", target_.waiting());
  if (translations_ != nullptr) {
    say("translations", translations_->unit().waiting());
  }
  const std::size_t before = text.size();
  for (const Engine* const engine : shell_.engines()) {
    say("engine", engine->waits_for());
  }
  if (shell_.raw() != nullptr) {
    say("engine", shell_.raw()->waits_for());
  }
  if (!requests_.is_busy() && text.size() != before) {  // something of them may wait in an engine
    if (!functions_.is_in_reset(0) && !functions_.is_bus_master()) {
      say("functions", "all wait for Bus Master Enable of " + json_value::bdf_text(base()));
    } else if (!functions_.are_all_running()) {
      say("functions", fmt::format("{} wait for Bus Master Enable or the end of a reset",
                                   functions_.not_running()));
    }
  }
  return text;
}

}  // namespace flitwise
