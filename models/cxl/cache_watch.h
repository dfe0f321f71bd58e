// SPDX-License-Identifier: Apache-2.0
/// The monitor of all caches of one memory: who holds a line, at every moment of a run. [COH-1.2]
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coherence/single_writer_monitor.h"
#include "common/component.h"
#include "flitwise/result.h"

namespace flitwise {

class CacheWatch final : public Bystander {
 public:
  /// `name` is what stands in its check.
  explicit CacheWatch(std::string name) : Bystander(std::move(name)) {}

  /// What the next cache tells its changes of state; it is there as long as this is.
  LineStateListener& add_cache(std::string name);

  std::vector<CheckResult> checks() const override;
  /// The first ones.
  const std::vector<Violation>& violations() const { return violations_; }

 private:
  class Cache final : public LineStateListener {
   public:
    Cache(CacheWatch& watch, std::uint8_t number, std::string name)
        : watch_(watch), number_(number), name_(std::move(name)) {}
    void line_state(std::uint64_t line, LineState state) override {
      watch_.told(number_, line, state);
    }
    const std::string& name() const { return name_; }

   private:
    CacheWatch& watch_;
    std::uint8_t number_;
    std::string name_;
  };
  void told(std::uint8_t number, std::uint64_t line, LineState state);

  SingleWriterMonitor monitor_;
  std::vector<std::unique_ptr<Cache>> caches_;
  std::vector<Violation> violations_;
};

}  // namespace flitwise
