// SPDX-License-Identifier: Apache-2.0
#include "script/rcm_line.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "rdma/psn.h"
#include "script/array_line.h"

namespace flitwise {
namespace {

constexpr const char* kRcmArgumentNames[] = {"{setup}", "{weights}", "{path}", "session",
                                             "psn",     "number",    "ns",     "flag"};
constexpr std::uint64_t kMostRcmSessions = 1024, kMostRcmNs = 100'000'000;
constexpr double kAnyReal = 1e18;

Complaint read_real(const Json& value, double least, double most, double& out) {
  double number = std::nan("");
  if (value.is_number()) {
    number = value.get<double>();
  } else if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    char* end = nullptr;
    number = std::strtod(text.c_str(), &end);
    number = text.empty() || *end != '\0' ? std::nan("") : number;
  }
  if (!(number >= least && number <= most)) {
    return fmt::format("{} seen; expected a number from {} to {}", json_value::shown(value), least,
                       most);
  }
  out = number;
  return {};
}

void read_real(JsonReader& in, const char* key, double least, double most, double& out) {
  in.field(key, [&](const Json& value) { return read_real(value, least, most, out); });
}

template <class Span>
void read_ns(JsonReader& in, const char* key, std::uint64_t least, Span& out) {
  in.field(key, [&](const Json& value) {
    std::uint64_t ns = 0;
    Complaint complaint = json_value::read_number(value, least, kMostRcmNs, ns);
    if (complaint.empty()) {
      out = Time::from_ns(static_cast<std::int64_t>(ns));
    }
    return complaint;
  });
}

template <class Names, class Word>
void read_rcm_word(JsonReader& in, const char* key, const Names& names, Word& out) {
  std::optional<Word> word;
  in.word(key, {names.begin(), names.end()}, word);
  out = word.value_or(out);
}

template <class Read>
void read_list(JsonReader& in, const char* key, std::vector<double>& out, Read read) {
  in.field(key, [&](const Json& value) -> Complaint {
    if (!value.is_array() || value.size() > kMostRcmSessions) {
      return fmt::format("{} seen; expected a list of up to {} numbers", json_value::shown(value),
                         kMostRcmSessions);
    }
    out.clear();
    Complaint complaint;
    for (std::size_t i = 0; i < value.size() && complaint.empty(); ++i) {
      complaint = read(value[i], out.emplace_back());
    }
    return complaint;
  });
}

// "nan" is what an algorithm may not say.
void read_weight_keys(JsonReader& in, WeightSetup& setup) {
  read_rcm_word(in, "algorithm", kWeightAlgorithmNames, setup.algorithm);
  read_rcm_word(in, "form", std::array{"deficit", "load", "capability"}, setup.form);
  in.flag("minmax", setup.is_minmax);
  in.flag("by_idle_gap", setup.is_by_idle_gap);
  read_real(in, "g_w", 0, 1, setup.gain);
  read_ns(in, "q_max_ns", 0, setup.q_max);
  read_ns(in, "lat_eps_ns", 0, setup.lat_eps);
  read_ns(in, "probe_epoch_ns", 1, setup.probe_epoch);
  read_real(in, "eta", 0, 1, setup.eta);
  read_real(in, "explore", 0, 1, setup.explore);
  read_real(in, "loss_penalty", 0, 1, setup.loss_penalty);
  read_list(in, "weights", setup.fixed, [](const Json& value, double& out) -> Complaint {
    if (value == "nan") {
      out = std::nan("");
      return {};
    }
    return read_real(value, -kAnyReal, kAnyReal, out);
  });
}

void read_monitor_keys(JsonReader& in, MonitorSetup& setup) {
  in.flag("echo", setup.has_echo);
  read_ns(in, "base_window_ns", 2, setup.base_window);
  read_ns(in, "stale_ns", 1, setup.stale_time);
  read_ns(in, "rto_ns", 1, setup.rto);
  in.number("loss_run", 1, 255, setup.loss_run);
  read_ns(in, "keepalive_ns", 0, setup.keepalive);
  in.number("keepalive_misses", 1, 255, setup.keepalive_misses);
}

void read_choice_keys(JsonReader& in, ChoiceSetup& setup) {
  read_rcm_word(in, "policy", kChoicePolicyNames, setup.policy);
  read_rcm_word(in, "tie", kChoiceTieNames, setup.tie);
  read_rcm_word(in, "granularity", kChoiceGranularityNames, setup.granularity);
  in.flag("in_flight", setup.corrects_in_flight);
  read_real(in, "beta", 0.001, kAnyReal, setup.beta);
  in.number("table", 1, 65536, setup.table_entries);
  read_ns(in, "flowlet_gap_ns", 0, setup.flowlet_gap);
}

void read_control_keys(JsonReader& in, ControlSetup& setup) {
  in.flag("control", setup.is_on);
  read_ns(in, "ctl_interval_ns", 1000, setup.interval);
  setup.is_by_weight = in.word("threshold_on", {"level", "weight"}) == 1;
  read_rcm_word(in, "mode", kCongestedModeNames, setup.mode);
  in.number("quorum", 0, kMostRcmSessions, setup.quorum);
  in.number("q_relax", 0, kMostRcmSessions, setup.relax_quorum);
  // What is out of range is refused by the rules.
  read_real(in, "T", -kAnyReal, kAnyReal, setup.threshold);
  read_real(in, "T_low", -kAnyReal, kAnyReal, setup.relaxed);
  read_real(in, "C", -kAnyReal, kAnyReal, setup.most_cost);
  read_real(in, "c_base", 0, kAnyReal, setup.session_cost);
  read_real(in, "c_mem", 0, kAnyReal, setup.byte_cost);
  read_real(in, "c_crypto", 0, kAnyReal, setup.crypto_cost);
  in.number("min_sessions", 0, kMostRcmSessions, setup.least_sessions);
  in.number("max_sessions", 0, kMostRcmSessions, setup.most_sessions);
  read_ns(in, "add_cooldown_ns", 0, setup.add_cooldown);
  read_ns(in, "remove_cooldown_ns", 0, setup.remove_cooldown);
}

void read_rcm_setup(JsonReader& in, RcmSetup& setup) {
  BalancerSetup& balancer = setup.balancer;
  in.number("sessions", 0, kMostRcmSessions, setup.sessions);
  in.number("seed", 0, std::numeric_limits<std::uint64_t>::max(), setup.seed);
  in.number("bytes", 1, 1'000'000, setup.bytes);
  read_real(in, "rated", 1, 1e15, setup.session.rated);
  in.flag("secured", setup.session.is_secured);
  in.number("state_bytes", 0, 1'000'000'000, setup.session.state_bytes);
  in.flag("acts", setup.acts);
  in.field("path", [&](const Json& value) { return read_rcm_path(value, setup.path.emplace()); });
  read_list(in, "thresholds", setup.thresholds,
            [](const Json& value, double& out) { return read_real(value, -1, kAnyReal, out); });
  read_ns(in, "weight_interval_ns", 1000, balancer.weight_interval);
  read_ns(in, "apply_delay_ns", 0, balancer.apply_delay);
  read_weight_keys(in, balancer.weights);
  read_monitor_keys(in, balancer.monitor);
  read_choice_keys(in, balancer.choice);
  read_control_keys(in, balancer.control);
  balancer.agree();
}

Complaint read_rcm_argument(RcmArgument argument, const Json& value, RcmLine& line) {
  const auto number = [&](std::uint64_t most) {
    return json_value::read_number(value, 0, most, line.numbers.emplace_back());
  };
  switch (argument) {
    case RcmArgument::kSetup:
      return complaint_within(value, [&](JsonReader& in) { read_rcm_setup(in, line.setup); });
    case RcmArgument::kWeights: {
      line.object = value;
      WeightSetup any;
      return read_rcm_weights(value, any);
    }
    case RcmArgument::kPath: {
      line.object = value;
      RcmPath any;
      return read_rcm_path(value, any);
    }
    case RcmArgument::kSession: return number(std::numeric_limits<SessionId>::max());
    case RcmArgument::kPsn: return number(kPsnMask);
    case RcmArgument::kNumber: return number(std::numeric_limits<std::uint32_t>::max());
    case RcmArgument::kNs: return number(kMostRcmNs);
    case RcmArgument::kFlag: {
      bool flag = false;
      Complaint complaint = json_value::read_bool(value, flag);
      line.numbers.push_back(flag ? 1 : 0);
      return complaint;
    }
  }
  return {};
}

}  // namespace

Complaint read_rcm_weights(const Json& value, WeightSetup& setup) {
  return complaint_within(value, [&](JsonReader& in) { read_weight_keys(in, setup); });
}

Complaint read_rcm_path(const Json& value, RcmPath& path) {
  return complaint_within(value, [&](JsonReader& in) {
    read_ns(in, "rtt_ns", 0, path.rtt);
    read_ns(in, "service_ns", 0, path.service);
    read_ns(in, "mark_ns", 0, path.mark);
    in.flag("dead", path.is_dead);
  });
}

bool begins_rcm(const Json& array) {
  return !array.empty() && array.front() == "rcm";
}

RcmLine parse_rcm_line(const Json& array, int number) {
  RcmLine line;
  line.verb = &verb_of_array(array, rcm_verbs(), number);
  read_arguments(
      array, *line.verb, number,
      [](RcmArgument argument) { return kRcmArgumentNames[static_cast<std::size_t>(argument)]; },
      [&](RcmArgument argument, const Json& value) {
        return read_rcm_argument(argument, value, line);
      });
  return line;
}

}  // namespace flitwise
