// SPDX-License-Identifier: Apache-2.0
/// Lines of a cache in sets and ways, with the least recently used one as victim. [COH-2.2]
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "coherence/core_request.h"
#include "coherence/cxl_line.h"

namespace flitwise {

class CacheArray {
 public:
  struct Way {
    std::uint64_t line = 0;
    LineState state = LineState::kInvalid;
    bool is_reserved = false;  ///< a request for its line is out: it is no victim
    std::uint32_t domain = 0;  ///< for which it was asked for [COH-2.9]
    std::uint64_t last_use = 0;
    CxlLine data{};

    bool is_free() const { return state == LineState::kInvalid && !is_reserved; }
  };

  /// `listener` may be absent. REQUIRES: sets is a power of two.
  CacheArray(std::uint32_t sets, std::uint32_t ways, LineStateListener* listener)
      : sets_(sets),
        ways_per_set_(ways),
        listener_(listener),
        ways_(std::size_t{sets} * std::size_t{ways}) {}

  /// The way that holds the line or is reserved for it.
  const Way* find(std::uint64_t line) const {
    const std::size_t first = first_of_set(line);
    for (std::size_t i = first; i < first + ways_per_set_; ++i) {
      if (ways_[i].line == line && !ways_[i].is_free()) {
        return &ways_[i];
      }
    }
    return nullptr;
  }
  Way* find(std::uint64_t line) { return const_cast<Way*>(std::as_const(*this).find(line)); }
  /// Where a line that has no way would go: a free way, else the least recently used one that is
  /// not reserved; nothing if all are.
  const Way* room_for(std::uint64_t line) const {
    const std::size_t first = first_of_set(line);
    const Way* oldest = nullptr;
    for (std::size_t i = first; i < first + ways_per_set_; ++i) {
      const Way& way = ways_[i];
      if (way.is_free()) {
        return &way;
      }
      if (!way.is_reserved && (oldest == nullptr || way.last_use < oldest->last_use)) {
        oldest = &way;
      }
    }
    return oldest;
  }
  Way* room_for(std::uint64_t line) {
    return const_cast<Way*>(std::as_const(*this).room_for(line));
  }
  /// Of the copy in a way.
  LineState state(std::uint64_t line) const {
    const Way* const way = find(line);
    return way != nullptr ? way->state : LineState::kInvalid;
  }
  /// void visit(std::uint64_t line, LineState), for each line held, in the order of sets and ways.
  template <class Visit>
  void for_each_line(Visit&& visit) const {
    for (const Way& way : ways_) {
      if (way.state != LineState::kInvalid) {
        visit(way.line, way.state);
      }
    }
  }

  void set_state(Way& way, LineState state) {
    if (way.state == state) {
      return;
    }
    way.state = state;
    tell(way.line, state);
  }
  /// The core has what it asked for in this way: a write goes into the line. [COH-1.1]
  void use(Way& way, const CoreRequest& request) {
    way.last_use = ++uses_;
    if (request.is_write()) {
      merge(way.data, request.line, request.byte_enables);
      set_state(way, LineState::kModified);
    }
  }
  /// Serves what needs no word to anybody: a read of a line held, a write of one owned, or what
  /// finds nothing to do. [COH-1.1]
  CoreResult hit(const CoreRequest& request) {
    CoreResult result{request.op, request.token, request.address, false, {}};
    if (Way* const way = find(line_of(request.address))) {
      use(*way, request);
      result.line = way->data;
    }
    return result;
  }
  /// The way is free for another line; whoever takes its line on says what becomes of it.
  void vacate(Way& way) {
    way.state = LineState::kInvalid;
    way.is_reserved = false;
  }
  /// Every way is free and without reservation. Returns the number of modified lines among them.
  std::size_t lose_all() {
    std::size_t modified = 0;
    for (Way& way : ways_) {
      modified += way.state == LineState::kModified ? 1 : 0;
      set_state(way, LineState::kInvalid);
      way = Way();
    }
    return modified;
  }
  /// Tells the listener of a line that is not in a way any more.
  void tell(std::uint64_t line, LineState state) const {
    if (listener_ != nullptr) {
      listener_->line_state(line, state);
    }
  }

 private:
  std::size_t first_of_set(std::uint64_t line) const {
    return static_cast<std::size_t>(line / kCxlLineBytes & (sets_ - 1)) * ways_per_set_;
  }
  std::uint32_t sets_;
  std::uint32_t ways_per_set_;
  LineStateListener* listener_;
  std::vector<Way> ways_;
  std::uint64_t uses_ = 0;
};

}  // namespace flitwise
