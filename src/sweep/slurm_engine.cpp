// SPDX-License-Identifier: Apache-2.0
// sbatch, squeue and scontrol as child processes.
#include "sweep/slurm_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <charconv>
#include <chrono>
#include <sstream>
#include <system_error>
#include <thread>

#include "common/atomic_file.h"
#include "common/child_process.h"
#include "common/input_file.h"
#include "common/interrupt.h"
#include "common/ranges.h"
#include "flitwise/error.h"
#include "sweep/scripts.h"

namespace flitwise {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kShortestPause{500};  // between two looks
constexpr milliseconds kLongestPause{10'000};
constexpr milliseconds kLateFiles{2'000};  // a shared file system may show them that much later

bool read_number(const std::string& text, std::size_t& number) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end;
}

/// What a command of Slurm says. Throws OutputError where it fails.
std::string slurm(const std::vector<std::string>& words) {
  static const std::string kNothing;
  ChildOutput output;
  try {
    output = run_child({words, &kNothing, true});
  } catch (const std::system_error& error) {
    throw ConfigError(
        {{"--engine slurm", 0, 0, "",
          fmt::format("{}; expected the commands of Slurm on this machine, or --engine "
                      "local",
                      error.what())}});
  }
  if (output.exit_code != 0 && !is_interrupted()) {
    throw OutputError(
        fmt::format("{} ended with exit code {}: {}", words.front(), output.exit_code,
                    boost::replace_all_copy(boost::trim_copy(output.text), "\n", "; ")));
  }
  return output.text;
}

/// Points of a plan that have no result, by index; those with the same id once.
class MissingPoints {
 public:
  MissingPoints(const Plan& plan, const std::string& folder) : folder_(folder) {
    std::set<std::string> seen;
    for (const Point& point : plan) {
      const bool is_new = seen.insert(point.id).second;
      if (is_new && !has_result(folder, point)) {
        points_.push_back(&point);
      }
    }
    distinct_ = seen.size();
  }
  std::size_t distinct() const { return distinct_; }
  const std::vector<const Point*>& points() const { return points_; }

  /// Forgets those that have a result by now. It was put in place whole, and is read when points
  /// are merged.
  void look_again() {
    points_.erase(std::remove_if(points_.begin(), points_.end(),
                                 [this](const Point* point) {
                                   return what_stands_at(result_path(folder_, *point)) ==
                                          Standing::kRegularFile;
                                 }),
                  points_.end());
  }
  std::size_t outside(const SlurmQueue& queue) const {
    return static_cast<std::size_t>(
        std::count_if(points_.begin(), points_.end(),
                      [&](const Point* point) { return !queue.has(point->index); }));
  }

 private:
  const std::string folder_;
  std::vector<const Point*> points_;
  std::size_t distinct_ = 0;
};

/// The jobs of this sweep, also those that were there.
std::set<std::string> submit(const MissingPoints& missing, const EngineOptions& options,
                             const std::string& folder,
                             const std::function<void(const std::string&)>& say) {
  const SlurmQueue queue = slurm_queue(folder);
  std::set<std::string> jobs = queue.jobs;
  std::set<std::size_t> wanted;
  for (const Point* const point : missing.points()) {
    if (!queue.has(point->index)) {
      wanted.insert(point->index / options.points_per_task);
    }
  }
  if (!queue.jobs.empty()) {
    say(fmt::format("{} of this sweep in the queue already, of job {}",
                    tasks_text(queue.tasks.size()), fmt::join(queue.jobs, " ")));
  }
  const std::vector<std::size_t> tasks(wanted.begin(), wanted.end());
  const std::size_t most =
      tasks.empty() ? 1 : max_array_size(slurm({"scontrol", "show", "config"}));
  for (const auto& [offset, numbers] : split_into_arrays(tasks, most)) {
    const std::string limit = options.jobs > 0 ? fmt::format("%{}", options.jobs) : "";
    std::string job = slurm({"sbatch", "--parsable", "--chdir=" + folder,
                             "--job-name=" + array_name(folder, options.points_per_task, offset),
                             "--array=" + task_list(numbers) + limit, folder + "/array.sbatch",
                             std::to_string(offset)});
    if (is_interrupted()) {
      break;
    }
    job = boost::trim_copy(job.substr(0, job.find(';')));  // a cluster's name stands behind it
    say(fmt::format("submitted {} as job {}", tasks_text(numbers.size()), job));
    jobs.insert(job);
  }
  return jobs;
}

/// False where an interrupt came.
bool wait(milliseconds pause) {
  constexpr milliseconds kLook{50};
  for (const auto end = Clock::now() + pause; Clock::now() < end && !is_interrupted();) {
    std::this_thread::sleep_for(kLook);
  }
  return !is_interrupted();
}

}  // namespace

bool SlurmQueue::has(std::size_t point) const {
  auto after = tasks.upper_bound({point, std::string::npos});
  return after != tasks.begin() && (--after)->second > point;
}

std::string tasks_text(std::size_t tasks) {
  return fmt::format("{} task{}", tasks, tasks == 1 ? "" : "s");
}

SlurmQueue queue_from(const std::string& squeue, const std::string& front) {
  SlurmQueue queue;
  std::istringstream lines(squeue);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> words;
    boost::split(words, line, [](char c) { return c == '|'; });
    if (words.size() != 3 || words[0].rfind(front, 0) != 0) {
      continue;
    }
    const std::string numbers = words[0].substr(front.size());
    const std::size_t dash = numbers.find('-');
    std::size_t size = 0, offset = 0, number = 0;
    if (dash != std::string::npos && read_number(numbers.substr(0, dash), size) &&
        read_number(numbers.substr(dash + 1), offset) && read_number(words[1], number)) {
      queue.tasks.emplace((offset + number) * size, (offset + number + 1) * size);
      queue.jobs.insert(words[2]);
    }
  }
  return queue;
}

std::size_t max_array_size(const std::string& scontrol) {
  constexpr std::size_t kDefault = 1001;
  const std::string name = "MaxArraySize";
  const std::size_t at = scontrol.find(name);
  std::size_t size = 0;
  if (at == std::string::npos ||
      std::sscanf(scontrol.c_str() + at + name.size(), " = %zu", &size) != 1 || size == 0) {
    return kDefault;
  }
  return size;
}

std::string task_list(const std::vector<std::size_t>& tasks) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < tasks.size();) {
    std::size_t last = i;
    while (last + 1 < tasks.size() && tasks[last + 1] == tasks[last] + 1) {
      ++last;
    }
    parts.push_back(last == i ? std::to_string(tasks[i])
                              : fmt::format("{}-{}", tasks[i], tasks[last]));
    i = last + 1;
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

std::map<std::size_t, std::vector<std::size_t>> split_into_arrays(
    const std::vector<std::size_t>& tasks, std::size_t max_size) {
  std::map<std::size_t, std::vector<std::size_t>> arrays;
  for (const std::size_t task : tasks) {
    arrays[task / max_size * max_size].push_back(task % max_size);
  }
  return arrays;
}

SlurmQueue slurm_queue(const std::string& folder) {
  return queue_from(slurm({"squeue", "--me", "--noheader", "--array", "--format=%j|%K|%F"}),
                    array_name_front(folder));
}

SlurmOutcome run_slurm(const Plan& plan, const EngineOptions& options, const std::string& folder,
                       const std::function<void(const SweepProgress&)>& report,
                       const std::function<void(const std::string&)>& say) {
  watch_for_interrupt();
  make_folders(folder);
  MissingPoints missing(plan, folder);
  SlurmOutcome outcome;
  SweepProgress& progress = outcome.progress;
  progress.total = missing.distinct();
  progress.cached = progress.done = progress.total - missing.points().size();
  outcome.jobs = submit(missing, options, folder, say);
  report(progress);
  const Clock::time_point start = Clock::now();
  SlurmQueue queue;
  bool is_silent = false;
  for (bool is_last_look = missing.points().empty(); !is_interrupted();) {
    try {
      queue = slurm_queue(folder);
      is_silent = false;
    } catch (const OutputError& error) {  // the jobs go on without their controller
      if (!is_silent) {
        say(fmt::format("{}; asking again", error.what()));
      }
      is_silent = true;
    }
    if (is_interrupted()) {
      break;  // while squeue ran: it said nothing
    }
    missing.look_again();
    progress.failed = missing.outside(queue);
    progress.done = progress.total - missing.points().size() + progress.failed;
    report(progress);
    if (missing.points().empty() || is_last_look) {
      break;
    }
    is_last_look = queue.tasks.empty() && !is_silent;
    const auto passed = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
    wait(is_last_look ? kLateFiles : std::clamp(passed / 20, kShortestPause, kLongestPause));
  }
  outcome.is_interrupted = is_interrupted();
  return outcome;
}

}  // namespace flitwise
