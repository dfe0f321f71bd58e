// SPDX-License-Identifier: Apache-2.0
/// Two ends of session groups and the frames between them, driven by lines of a script.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "script/srdma_line.h"

namespace flitwise {

class SrdmaScript {
 public:
  using Sink = std::function<void(const Json&)>;
  /// Does what the line says and tells what comes of it, as events. Before the first line that sets
  /// two ends up there are two as that line makes them without keys.
  void run(const SrdmaLine& line, const Sink& sink);

 private:
  friend struct SrdmaActions;

  struct Flight {
    Time at{};  ///< when it arrives, where time passes
    ByteVector bytes;
  };
  struct End {
    explicit End(const SrdmaEndSetup& setup) : end(setup) {}
    SrdmaEnd end;
    std::deque<Flight> arriving;
    ByteVector last;              ///< the frame that has come last
    std::uint32_t next_pair = 0;  ///< that answers a request
  };

  void set_up(const SrdmaScriptSetup& setup);
  void start(unsigned number);
  /// Tells what has happened, and puts what both ends send on its way.
  void settle();
  void tell_events(unsigned number);
  void send_control(unsigned number);
  void put(unsigned to, ByteVector bytes);
  void deliver(unsigned number);
  /// Time passes, and frames arrive in it or not.
  void pass(Time span, bool arrives);

  std::array<std::unique_ptr<End>, 2> ends_;
  SrdmaScriptSetup setup_;
  std::array<std::uint32_t, kCmKinds + 1> losses_{};  ///< control messages to be lost, by kind
  std::uint32_t starts_ = 0;
  Time now_{};
  Sink sink_;
};

}  // namespace flitwise
