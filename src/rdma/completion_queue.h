// SPDX-License-Identifier: Apache-2.0
/// A completion queue, and a queue of receive buffers, which a queue pair has for itself or shares.
#pragma once

#include <boost/circular_buffer.hpp>

#include <cstddef>
#include <optional>
#include <utility>

#include "rdma/work_request.h"

namespace flitwise {

class CompletionQueue {
 public:
  /// REQUIRES: depth > 0.
  explicit CompletionQueue(std::size_t depth) : entries_(depth) {}

  /// Where it has no room the queue is in error from now on, and so are queue pairs that use it;
  /// entries that it has can still be read. [VB-7]
  void push(const WorkCompletion& completion) {
    if (has_failed_ || entries_.full()) {
      has_failed_ = true;
      return;
    }
    entries_.push_back(completion);
    const bool is_error = completion.status != WorkStatus::kSuccess;
    if (is_armed_ && (!for_solicited_ || completion.is_solicited || is_error)) {
      is_armed_ = false;
      has_event_ = true;
    }
  }
  std::optional<WorkCompletion> poll() {
    if (entries_.empty()) {
      return std::nullopt;
    }
    const WorkCompletion first = entries_.front();
    entries_.pop_front();
    return first;
  }
  /// One event with the next entry, or the next that is solicited or an error. [VB-1] [RDM-11]
  void arm(bool for_solicited) {
    is_armed_ = true;
    for_solicited_ = for_solicited;
  }
  bool take_event() { return std::exchange(has_event_, false); }
  bool has_failed() const { return has_failed_; }
  std::size_t size() const { return entries_.size(); }

 private:
  boost::circular_buffer<WorkCompletion> entries_;
  bool has_failed_ = false, is_armed_ = false, for_solicited_ = false, has_event_ = false;
};

class RdmaBuffers {
 public:
  /// REQUIRES: depth > 0.
  explicit RdmaBuffers(std::size_t depth) : entries_(depth) {}

  /// False, and nothing has changed, where it is full. [VB-C7]
  bool post(const ReceiveWork& work) {
    if (entries_.full()) {
      return false;
    }
    entries_.push_back(work);
    return true;
  }
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  /// REQUIRES: not empty.
  ReceiveWork take() {
    const ReceiveWork first = entries_.front();
    entries_.pop_front();
    if (entries_.size() < limit_) {
      limit_ = 0;
      has_event_ = true;
    }
    return first;
  }
  void clear() { entries_.clear(); }
  /// One event once fewer buffers than this are left; 0: none. [RDM-11]
  void set_limit(std::size_t buffers) { limit_ = buffers; }
  bool take_event() { return std::exchange(has_event_, false); }

 private:
  boost::circular_buffer<ReceiveWork> entries_;
  std::size_t limit_ = 0;
  bool has_event_ = false;
};

}  // namespace flitwise
