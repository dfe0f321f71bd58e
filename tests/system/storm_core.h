// SPDX-License-Identifier: Apache-2.0
/// Cores that storm the same lines: what each reads is held against what all of them have written.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "coherence/cxl_line.h"
#include "common/random.h"
#include "endpoint/engine.h"

namespace flitwise {

/// The writes of one line that is written whole: when each began and was done, on one count of all
/// that happens.
struct LineVersions {
  struct Write {
    std::uint64_t begun = 0;
    std::uint64_t done = 0;  // 0: not yet
  };
  std::vector<Write> writes{1};   // by what they write; the first is what memory has at first
  std::uint64_t newest_done = 0;  // the last begin among those that are done
};

/// What the cores of a storm have written to the lines from `base` on. Each counts up a word of its
/// own in a line; with `has_whole_lines` one line in four is written whole, by any of them.
struct StormBook {
  static constexpr std::size_t kCores = 4, kLines = 64;  // or fewer cores
  std::uint64_t base = 0;
  bool has_whole_lines = false;
  bool is_written_whole(std::uint64_t line) const { return has_whole_lines && line % 4 == 3; }

  using Counts = std::array<std::array<std::uint64_t, kLines>, kCores>;
  Counts begun{}, done{};  // by writer and line
  std::array<LineVersions, kLines> whole{};
  std::uint64_t events = 0;
  std::uint64_t stale_reads = 0, early_reads = 0, torn_reads = 0;
};

/// Reads and writes lines at random, and holds what it reads against the book of all cores.
class StormCore final : public Engine {
 public:
  StormCore(StormBook& book, std::size_t self, std::uint64_t operations, std::uint64_t seed)
      : book_(book), self_(self), left_(operations), random_(seed), operations_(kOut) {
    for (std::uint32_t token = 0; token < kOut; ++token) {
      free_.push_back(token);
    }
  }

  bool next(Time now, Transfer& transfer) override {
    if (left_ == 0 || free_.empty()) {
      return false;
    }
    --left_;
    Operation& operation = operations_[free_.back()];
    transfer = Transfer();
    transfer.token = free_.back();
    free_.pop_back();
    transfer.issue = now;
    operation.line = random_.below(StormBook::kLines);
    transfer.address = book_.base + operation.line * kCxlLineBytes;
    if (random_.below(2) == 0) {
      transfer.op = Op::kRead;
      transfer.bytes = kCxlLineBytes;
      for (std::size_t writer = 0; writer < StormBook::kCores; ++writer) {
        operation.at_least[writer] = book_.done[writer][operation.line];
      }
      operation.newest_done = book_.whole[operation.line].newest_done;
    } else if (book_.is_written_whole(operation.line)) {
      std::vector<LineVersions::Write>& writes = book_.whole[operation.line].writes;
      operation.value = writes.size();
      operation.words.fill(operation.value);
      writes.push_back({++book_.events, 0});
      transfer.op = Op::kWrite;
      transfer.bytes = kCxlLineBytes;
      transfer.data = reinterpret_cast<const std::uint8_t*>(operation.words.data());
    } else {
      transfer.op = Op::kWrite;
      transfer.bytes = sizeof operation.value;
      transfer.address += self_ * sizeof operation.value;
      operation.value = ++book_.begun[self_][operation.line];
      transfer.data = reinterpret_cast<const std::uint8_t*>(&operation.value);
    }
    return true;
  }
  void data(std::uint32_t token, std::uint64_t, const std::uint8_t* bytes, std::size_t) override {
    const Operation& operation = operations_[token];
    if (book_.is_written_whole(operation.line)) {
      std::array<std::uint64_t, 8> words{};
      std::memcpy(words.data(), bytes, sizeof words);
      for (const std::uint64_t word : words) {
        book_.torn_reads += word != words[0] ? 1 : 0;
      }
      const LineVersions& versions = book_.whole[operation.line];
      if (words[0] >= versions.writes.size()) {
        ++book_.early_reads;
        return;
      }
      // Overwritten before the read began, by a write that began after this one was done.
      const std::uint64_t done = versions.writes[words[0]].done;
      const bool is_first = words[0] == 0;
      book_.stale_reads +=
          (is_first ? operation.newest_done > 0 : done > 0 && done < operation.newest_done) ? 1 : 0;
      return;
    }
    for (std::size_t writer = 0; writer < StormBook::kCores; ++writer) {
      std::uint64_t seen = 0;
      std::memcpy(&seen, bytes + writer * sizeof seen, sizeof seen);
      book_.stale_reads += seen < operation.at_least[writer] ? 1 : 0;
      book_.early_reads += seen > book_.begun[writer][operation.line] ? 1 : 0;
    }
  }
  void finished(const TransferEnd& end) override {
    failed += end.status == TransferStatus::kDone ? 0 : 1;
    const Operation& operation = operations_[end.token];
    if (end.op == Op::kWrite && book_.is_written_whole(operation.line)) {
      LineVersions& versions = book_.whole[operation.line];
      LineVersions::Write& write = versions.writes[operation.value];
      write.done = ++book_.events;
      versions.newest_done = std::max(versions.newest_done, write.begun);
    } else if (end.op == Op::kWrite) {
      std::uint64_t& done = book_.done[self_][operation.line];
      done = std::max(done, operation.value);
    }
    free_.push_back(end.token);
  }
  Time next_at() const override { return Time::never(); }
  bool is_done() const override { return left_ == 0 && free_.size() == kOut; }
  std::string waits_for() const override { return ""; }

  std::uint64_t failed = 0;

 private:
  static constexpr std::uint32_t kOut = 8;
  struct Operation {
    std::uint64_t line = 0, value = 0, newest_done = 0;
    std::array<std::uint64_t, 8> words{};  // of a write of all
    std::array<std::uint64_t, StormBook::kCores> at_least{};
  };
  StormBook& book_;
  std::size_t self_;
  std::uint64_t left_;
  Random random_;
  std::vector<Operation> operations_;  // by token
  std::vector<std::uint32_t> free_;
};

}  // namespace flitwise
