// SPDX-License-Identifier: Apache-2.0
/// The wires of a trace, two a link, and when each of them was busy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace flitwise {

/// When something was busy: spans that may overlap, as units share a symbol time and flits hold
/// units. Unit: ps.
class BusyTime {
 public:
  void add(std::int64_t first, std::int64_t last);
  /// No more will come.
  void close();
  /// REQUIRES: closed.
  std::int64_t between(std::int64_t from, std::int64_t until) const {
    return before(until) - before(from);
  }
  std::int64_t total() const { return spans_.empty() ? 0 : before(spans_.back().last); }

 private:
  struct Span {
    std::int64_t first, last;
    std::int64_t before = 0;  // busy until it begins
  };
  std::int64_t before(std::int64_t time) const;

  std::vector<Span> spans_;
  bool is_ordered_ = true;
};

struct Wire {
  std::string link, direction;
  BusyTime busy;
  std::string name() const { return link + " " + direction; }
};

/// Wires by number, in the order in which they are first named.
class WireBook {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t number_of(const std::string& link, const std::string& direction);
  /// The other one of the same link; kNone: nothing was on it.
  std::size_t opposite(std::size_t wire) const;
  Wire& operator[](std::size_t wire) { return wires_[wire]; }
  const Wire& operator[](std::size_t wire) const { return wires_[wire]; }
  std::size_t size() const { return wires_.size(); }

 private:
  std::vector<Wire> wires_;
  std::map<std::pair<std::string, std::string>, std::size_t> numbers_;
};

}  // namespace flitwise
