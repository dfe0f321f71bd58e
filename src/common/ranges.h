// SPDX-License-Identifier: Apache-2.0
/// Questions to whole containers and arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace flitwise {

template <class Range, class Value>
bool contains(const Range& range, const Value& value) {
  return std::find(std::begin(range), std::end(range), value) != std::end(range);
}
template <class Range, class Predicate>
bool any_of(const Range& range, const Predicate& is_it) {
  return std::any_of(std::begin(range), std::end(range), is_it);
}
template <class Range, class Predicate>
bool all_of(const Range& range, const Predicate& is_it) {
  return std::all_of(std::begin(range), std::end(range), is_it);
}
template <class Range, class Predicate>
bool none_of(const Range& range, const Predicate& is_it) {
  return std::none_of(std::begin(range), std::end(range), is_it);
}
/// The first for which is_it(element); end() where there is none.
template <class Range, class Predicate>
auto find_if(Range& range, const Predicate& is_it) {
  return std::find_if(std::begin(range), std::end(range), is_it);
}

/// Of names of an enumeration that counts from 0; "?" for a number without a name.
template <class Enum, std::size_t N>
constexpr const char* name_in(const char* const (&names)[N], Enum value) {
  return static_cast<std::size_t>(value) < N ? names[static_cast<std::size_t>(value)] : "?";
}

}  // namespace flitwise
