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
#include <iterator>

namespace flitwise {

using boost::algorithm::all_of;
using boost::algorithm::any_of;
using boost::algorithm::none_of;
using boost::range::find_if;

template <class Range, class Value>
bool contains(const Range& range, const Value& value) {
  return boost::range::find(range, value) != std::end(range);
}

/// Of names of an enumeration that counts from 0; "?" for a number without a name.
template <class Enum, std::size_t N>
constexpr const char* name_in(const char* const (&names)[N], Enum value) {
  return static_cast<std::size_t>(value) < N ? names[static_cast<std::size_t>(value)] : "?";
}

}  // namespace flitwise
