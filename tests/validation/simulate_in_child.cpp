// SPDX-License-Identifier: Apache-2.0
// A pipe and a fork per simulation.
#include "validation/simulate_in_child.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <deque>
#include <stdexcept>

#include "config/load.h"
#include "flitwise/system.h"
#include "results/result_json.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

struct Child {
  pid_t pid;
  int from;
};

Json run_here(const Simulation& run) {
  try {
    LoadOptions options;
    options.sets = run.sets;
    const Config config = load_config(FLITWISE_SOURCE_DIR "/configs/" + run.config, options);
    System system(config);
    return result_json(system.run());
  } catch (const std::exception& error) {
    return {{"failed", error.what()}};
  }
}

[[noreturn]] void child_main(const Simulation& run, int to) {
  const std::string text = run_here(run).dump();
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t written = write(to, text.data() + sent, text.size() - sent);
    if (written <= 0) {
      _exit(1);
    }
    sent += static_cast<std::size_t>(written);
  }
  _exit(0);  // no destructors and no output of the parent's
}

Child start(const Simulation& run) {
  int ends[2];
  if (pipe(ends) != 0) {
    throw std::runtime_error("no pipe");
  }
  const pid_t pid = fork();
  if (pid < 0) {
    throw std::runtime_error("no child");
  }
  if (pid == 0) {
    close(ends[0]);
    child_main(run, ends[1]);
  }
  close(ends[1]);
  return {pid, ends[0]};
}

Json result_of(const Child& child) {
  std::string text;
  char buffer[65536];
  for (ssize_t got = 0; (got = read(child.from, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  close(child.from);
  int status = 0;
  waitpid(child.pid, &status, 0);
  const Json result = Json::parse(text, nullptr, false);
  return result.is_discarded() ? Json{{"failed", fmt::format("the child ended with {}", status)}}
                               : result;
}

}  // namespace

std::string Simulation::text() const {
  return fmt::format("{} {}", config, fmt::join(sets, " "));
}

std::vector<Json> simulate_in_children(const std::vector<Simulation>& runs) {
  constexpr std::size_t kAtATime = 2;
  std::vector<Json> results;
  std::deque<Child> running;
  for (std::size_t next = 0; results.size() < runs.size();) {
    while (next < runs.size() && running.size() < kAtATime) {
      running.push_back(start(runs[next++]));
    }
    results.push_back(result_of(running.front()));
    running.pop_front();
  }
  return results;
}

}  // namespace flitwise
