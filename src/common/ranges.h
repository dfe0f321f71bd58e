// SPDX-License-Identifier: Apache-2.0
/// Questions to whole containers and arrays.
#pragma once

#include <algorithm>
#include <boost/algorithm/cxx11/all_of.hpp>
#include <boost/algorithm/cxx11/any_of.hpp>
#include <boost/algorithm/cxx11/none_of.hpp>
#include <boost/range/algorithm/find.hpp>
#include <boost/range/algorithm/find_if.hpp>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

namespace flitwise {

using boost::algorithm::all_of;
using boost::algorithm::any_of;
using boost::algorithm::none_of;
using boost::range::find_if;

template <class Range, class Value>
bool contains(const Range& range, const Value& value) {
  return boost::range::find(range, value) != std::end(range);
}

/// Room for one element more in a circular buffer.
template <class Ring>
[[gnu::noinline]] void enlarge(Ring& ring) {
  ring.set_capacity(2 * ring.capacity());
}
template <class Ring>
void make_room(Ring& ring) {
  if (ring.full()) {
    enlarge(ring);
  }
}
/// The first element of which this is true; null: of none.
template <class Range, class Condition>
auto find_where(Range& range, Condition condition) {
  const auto found = std::find_if(std::begin(range), std::end(range), condition);
  return found == std::end(range) ? nullptr : &*found;
}
/// All of which it is true, in order.
template <class T, class Condition>
std::vector<T> those(const std::vector<T>& range, Condition condition) {
  std::vector<T> all;
  std::copy_if(range.begin(), range.end(), std::back_inserter(all), condition);
  return all;
}

/// What `of`, a function or a member, makes of each element, in order.
template <class T = std::string, class Range, class Of>
std::vector<T> mapped(const Range& range, Of of) {
  std::vector<T> all;
  for (const auto& one : range) {
    all.push_back(T(std::invoke(of, one)));
  }
  return all;
}
/// The sum of it: of texts, one behind the other.
template <class T = std::string, class Range, class Of>
T sum_of(const Range& range, Of of) {
  T sum{};
  for (const auto& one : range) {
    sum += std::invoke(of, one);
  }
  return sum;
}

/// Of names of an enumeration that counts from 0; "?" for a number without a name.
template <class Enum, std::size_t N>
constexpr const char* name_in(const char* const (&names)[N], Enum value) {
  return static_cast<std::size_t>(value) < N ? names[static_cast<std::size_t>(value)] : "?";
}

}  // namespace flitwise
