// SPDX-License-Identifier: Apache-2.0
/// The lines that a script gets back, and the events of wires among them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "flitwise/link_socket.h"
#include "flitwise/observer.h"
#include "scenario/event_pattern.h"
#include "script/script_line.h"
#include "trace/trace_sink.h"

namespace flitwise {

/// An event that somebody waits for.
struct AwaitedEvent {
  scenario::EventPattern pattern;
  bool is_seen = false;
  std::size_t agreement = 0;  ///< fields in which `nearest` is as expected
  Json nearest;               ///< of the events since then; null: none was alike
};

/// Makes events under the id of the operation that caused them.
class ScriptOutput {
 public:
  using Sink = std::function<void(const Json&)>;

  explicit ScriptOutput(Sink sink) : write_(std::move(sink)) {}
  /// Writes that have reached memory are events too.
  void show_commits() { shows_commits_ = true; }

  /// What a wire carries is an event too.
  void show_wires() { shows_wires_ = true; }
  /// Until the event happens, which is shown in any case and pauses the simulation then; null: no
  /// longer.
  void await(AwaitedEvent* awaited) { awaited_ = awaited; }

  /// Time counts from here on.
  void start() { start_ = now(); }
  /// Time since start().
  Time elapsed() const { return since_start(now()); }
  Time since_start(Time when) const { return when - start_; }
  /// A new operation; its events carry the token this returns.
  std::uint32_t begin(const Json& id, int line = 0);
  void done(std::uint32_t token);
  /// The number of its line.
  int line_of(std::uint32_t token) const { return operations_[token - 1].line; }

  void memory(std::uint32_t token, std::uint64_t address, const std::vector<std::uint8_t>& bytes);
  void data(std::uint32_t token, const std::vector<std::uint8_t>& bytes);
  /// A completion with the bytes it brought; without a tag where the host had asked.
  void completion(std::uint32_t token, std::optional<std::uint16_t> tag, CplStatus status,
                  const std::vector<std::uint8_t>& bytes, bool is_poisoned);
  void error(std::uint32_t token, const std::string& kind, const std::string& detail);
  /// The operation could not be understood: the number of its line, and what is wrong.
  void bad_value(std::uint32_t token, const std::string& message);
  /// A fault of the script that has not struck all it was to strike.
  void missed_fault(const std::string& link, const MissedFault& missed);
  /// What a `run` waited for in vain.
  void missed_event(std::uint32_t token, const AwaitedEvent& awaited, Time waited);
  /// A unit on a wire.
  void wire(const Json& line) { tell(line, shows_wires_); }
  /// Any other event.
  void write(const Json& line) { tell(line, true); }
  void write(std::uint32_t token, const char* name, const Json& fields);
  /// A message, an interrupt or an error on its way through the machine; others are left out.
  void observed(const Observation& observation, std::uint32_t token);

 private:
  Json event(std::uint32_t token, const char* name) const;
  void tell(const Json& line, bool is_shown);
  bool is_awaited(const Json& line);

  struct Operation {
    Json id;
    int line;
  };
  Sink write_;
  Time start_{};
  bool shows_commits_ = false, shows_wires_ = false;
  AwaitedEvent* awaited_ = nullptr;
  std::vector<Operation> operations_;  // by token - 1
};

/// Turns what stands on the wires of one link into events, with the names that decode uses.
class WireWatch : public TraceSink {
 public:
  WireWatch(std::string link, ScriptOutput& output) : link_(std::move(link)), output_(output) {}
  void record(const TraceEvent& event) override;

 private:
  std::string link_;
  ScriptOutput& output_;
};

}  // namespace flitwise
