// SPDX-License-Identifier: Apache-2.0
// Threads that take the next task, and the one that tells what has ended.
#include "common/process_pool.h"

#include <thread>
#include <vector>

#include "common/interrupt.h"

namespace flitwise {

void ProcessPool::run(const Work& work, Order order, const Tell& tell) {
  std::vector<std::thread> threads;
  working_ = jobs_;
  for (unsigned i = 0; i < jobs_; ++i) {
    threads.emplace_back([&] { do_tasks(work); });
  }
  try {
    tell_all(order, tell);
  } catch (...) {
    fail_with(std::current_exception());
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (problem_) {
    std::rethrow_exception(problem_);
  }
}

void ProcessPool::do_tasks(const Work& work) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (next_ < tasks_ && !is_interrupted()) {
    const std::uint64_t number = next_++;
    lock.unlock();
    bool is_done = false;
    try {
      is_done = work(number);
    } catch (...) {
      fail_with(std::current_exception());
    }
    lock.lock();
    if (is_done) {
      ended_.insert(number);
      progress_.notify_one();
    }
  }
  --working_;
  progress_.notify_one();
}

void ProcessPool::tell_all(Order order, const Tell& tell) {
  std::uint64_t expected = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  const auto has_news = [&] {
    return working_ == 0 ||
           (!ended_.empty() && (order == Order::kAsTheyEnd || *ended_.begin() == expected));
  };
  for (progress_.wait(lock, has_news); !ended_.empty(); progress_.wait(lock, has_news)) {
    const std::uint64_t number = *ended_.begin();
    ended_.erase(ended_.begin());
    expected = number + 1;
    lock.unlock();
    tell(number);
    lock.lock();
  }
}

void ProcessPool::fail_with(std::exception_ptr problem) {
  const std::lock_guard<std::mutex> lock(mutex_);
  problem_ = problem_ ? problem_ : std::move(problem);
  next_ = tasks_;
}

}  // namespace flitwise
