// SPDX-License-Identifier: Apache-2.0
// Delta debugging of cases, and failures told apart by their texts.
#include <fmt/format.h>

#include <boost/range/algorithm_ext/erase.hpp>
#include <charconv>
#include <csignal>
#include <optional>
#include <utility>

#include "common/ranges.h"
#include "scenario/campaign.h"

namespace flitwise::scenario {
namespace {

constexpr const char* kRequests = "workload.requests=";
constexpr const char* kDmaAddress = "0x100000";
constexpr std::size_t kLeastDmaBytes = 4;
constexpr int kSignalled = 128;  // exit code of a process that a signal ended, less the signal
constexpr const char* kEnded = "the case ended";
constexpr const char* kTooLong = "the case ran longer than its limit";

bool is_step(const Step& step, const char* op) {
  return step.op.at("op") == op;
}

/// Does the case still expect these bytes, of a read or in memory?
bool expects(const Case& one, const std::string& hex) {
  const auto has_hex = [&hex](const EventPattern& pattern) {
    return any_of(pattern.fields, [&](const auto& field) {
      return field.name == "hex" && field.test.text() == hex;
    });
  };
  return any_of(one.expect,
                [&](const Expectation& expectation) {
                  return any_of(expectation.any_order, has_hex);
                }) ||
         any_of(one.final_checks, [&](const FinalCheck& check) { return has_hex(check.expected); });
}

/// A write of bytes that the case expects, or a read from where it wrote them: without these the
/// case would fail whatever the machine does.
bool is_rested_on(const Case& one, const Step& step) {
  return is_step(step, "dma") && any_of(one.steps, [&](const Step& write) {
           return is_step(write, "dma") && write.op.contains("hex") &&
                  write.op.at("addr") == step.op.at("addr") &&
                  expects(one, write.op["hex"].get<std::string>());
         });
}

/// A raw write of bytes that memory has to hold.
bool is_expected_write(const Case& one, const Step& step) {
  return is_step(step, "tlp") && step.op.at("tlp").contains("payload") &&
         expects(one, step.op["tlp"]["payload"].get<std::string>());
}

/// Tables on the way of such a write.
bool maps_writes(const Case& one, const Step& step) {
  return (is_step(step, "map") || is_step(step, "translate")) &&
         any_of(one.steps, [&one](const Step& write) { return is_expected_write(one, write); });
}

bool has_step(const Case& one, const char* op) {
  return any_of(one.steps, [op](const Step& step) { return is_step(step, op); });
}

/// Software's leave for a function to go on after a reset: without it nothing is ever sent again.
bool lets_go_on(const Case& one, const Step& step) {
  return is_step(step, "cfg_write") && has_step(one, "reset");
}

/// Where the number of "...workload.requests=N" begins, if it is such a setting.
std::optional<std::size_t> requests_at(const std::string& set) {
  const std::size_t key = set.find(kRequests);
  return key == std::string::npos ? std::nullopt
                                  : std::optional(key + std::string(kRequests).size());
}

class Shrinker {
 public:
  Shrinker(Case one, const std::function<bool(const Case&)>& fails, unsigned budget,
           const std::vector<std::string>& held)
      : case_(std::move(one)), fails_(fails), budget_(budget), held_(held) {}

  Case result() {
    lower_requests();
    thin(&Case::expect);
    thin(&Case::final_checks);
    thin(&Case::steps);
    thin(&Case::sets);
    lower_requests();
    tell_by_steps();
    thin(&Case::steps);
    thin(&Case::sets);
    shorten_transfers();
    return std::move(case_);
  }

 private:
  // Keeps a candidate that still fails.
  bool try_this(Case less) {
    if (budget_ == 0) {
      return false;
    }
    --budget_;
    if (!fails_(less)) {
      return false;
    }
    case_ = std::move(less);
    return true;
  }

  // Ends that free handles in different ways are at odds on any machine.
  static bool is_of_both_ends(const std::string& set) {
    return set.find(".dhi.dealloc=") != std::string::npos;
  }

  // Requests have to stay as they are said: left out, the workload would run at its default.
  bool is_pinned(const Case& one, const std::string& set) const {
    return is_held(set) || (requests_at(set) && has_step(one, "start")) || is_of_both_ends(set);
  }
  // What the rest of the case rests on: a candidate has to fail because of the machine.
  static bool is_pinned(const Case& one, const Step& step) {
    return is_rested_on(one, step) || lets_go_on(one, step) || is_expected_write(one, step) ||
           maps_writes(one, step);
  }
  template <class Item>
  static bool is_pinned(const Case& /*one*/, const Item& /*item*/) {
    return false;
  }
  bool is_held(const std::string& set) const { return contains(held_, set); }

  // Leaves out groups of one list, halving their size.
  template <class Member>
  void thin(Member member) {
    for (std::size_t group = std::max<std::size_t>(1, (case_.*member).size() / 2); group > 0;
         group /= 2) {
      for (std::size_t at = 0; at < (case_.*member).size() && budget_ > 0;) {
        const auto& list = case_.*member;
        Case less = case_;
        auto& fewer = less.*member;
        fewer.clear();
        for (std::size_t i = 0; i < list.size(); ++i) {
          if (i < at || i >= at + group || is_pinned(case_, list[i])) {
            fewer.push_back(list[i]);
          }
        }
        if (fewer.size() == list.size() || !try_this(std::move(less))) {
          at += group;
        }
      }
    }
  }

  // By halves, one setting after the other.
  void lower_requests() {
    for (std::size_t i = 0; i < case_.sets.size(); ++i) {
      while (try_fewer_requests(i)) {
      }
    }
  }

  bool try_fewer_requests(std::size_t index) {
    Case less = case_;
    std::string& set = less.sets[index];
    const std::optional<std::size_t> at = requests_at(set);
    unsigned long requests = 0;
    if (at) {
      std::from_chars(set.data() + *at, set.data() + set.size(), requests);
    }
    if (requests <= 1 || is_held(set)) {
      return false;
    }
    set = set.substr(0, *at) + std::to_string(requests / 2);
    return try_this(std::move(less));
  }

  // What a workload has sent, as a write or a read of one device or both.
  void tell_by_steps() {
    if (!has_step(case_, "start")) {
      return;
    }
    for (const std::size_t bytes : {std::size_t{4096}, std::size_t{32768}}) {
      for (const char* const kind : {"read", "write"}) {
        if (try_this(by_steps(kind, bytes))) {
          return;
        }
      }
    }
  }

  Case by_steps(const std::string& kind, std::size_t bytes) const {
    Case less = case_;
    boost::range::remove_erase_if(less.sets, [this](const std::string& set) {
      return set.find("workload.") != std::string::npos && !is_held(set);
    });
    less.steps.clear();
    for (const Step& step : case_.steps) {
      if (!is_step(step, "start")) {
        less.steps.push_back(step);
        continue;
      }
      Step dma = step;
      dma.op = {{"op", "dma"}, {"port", "ep0"}, {"kind", kind}, {"addr", kDmaAddress}};
      set_bytes(dma, bytes);
      less.steps.push_back(std::move(dma));
    }
    return less;
  }

  static std::size_t bytes_of(const Step& dma) {
    if (dma.op.contains("hex")) {
      return dma.op["hex"].get<std::string>().size() / 2;
    }
    const std::string text = dma.op.at("bytes").get<std::string>();
    std::size_t bytes = 0;
    std::from_chars(text.data(), text.data() + text.size(), bytes);
    return bytes;
  }

  static void set_bytes(Step& dma, std::size_t bytes) {
    if (dma.op.at("kind") == "read") {
      dma.op["bytes"] = std::to_string(bytes);
    } else if (dma.op.contains("hex")) {
      dma.op["hex"] = dma.op["hex"].get<std::string>().substr(0, 2 * bytes);
    } else {
      std::string hex;
      for (std::size_t i = 0; i < bytes; ++i) {
        hex += fmt::format("{:02x}", i & 0xff);
      }
      dma.op["hex"] = hex;
    }
  }

  // By halves. Where something expects what was written it stays.
  void shorten_transfers() {
    for (std::size_t i = 0; i < case_.steps.size(); ++i) {
      while (is_step(case_.steps[i], "dma") && !is_rested_on(case_, case_.steps[i]) &&
             bytes_of(case_.steps[i]) > kLeastDmaBytes) {
        Case less = case_;
        set_bytes(less.steps[i], bytes_of(case_.steps[i]) / 2);
        if (!try_this(std::move(less))) {
          break;
        }
      }
    }
  }

  Case case_;
  const std::function<bool(const Case&)>& fails_;
  unsigned budget_;
  const std::vector<std::string>& held_;
};

}  // namespace

Case shrunk(Case one, const std::function<bool(const Case&)>& fails, unsigned budget,
            const std::vector<std::string>& held) {
  return Shrinker(std::move(one), fails, budget, held).result();
}

std::string line_from(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

std::string text_of_silence(int exit_code, unsigned seconds) {
  return exit_code == kSignalled + SIGALRM
             ? fmt::format("      {} of {} s and said nothing\n", kTooLong, seconds)
             : fmt::format("      {} with exit code {} and said nothing\n", kEnded, exit_code);
}

std::string kind_of(const std::string& failure) {
  std::string kind = line_from(failure, "expected ");
  if (kind.empty()) {
    return failure.find(kTooLong) != std::string::npos ? kTooLong : line_from(failure, kEnded);
  }
  // Which rule of a violation, which error, which check.
  const std::string seen = line_from(failure, "seen: ");
  for (const auto& [key, end] : {std::pair(" rule=", " type="), std::pair(" kind=", " at="),
                                 std::pair(" name=", " detail=")}) {
    if (const std::size_t at = seen.find(key); at != std::string::npos) {
      kind += seen.substr(at, seen.find(end, at) - at);
    }
  }
  return kind;
}

bool is_quick(const std::string& kind) {
  return kind != kTooLong;
}

}  // namespace flitwise::scenario
