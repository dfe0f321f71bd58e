// SPDX-License-Identifier: Apache-2.0
/// Members of a struct as numbers, for tables of the fields of a packet.
#pragma once

#include <cstdint>

#include "flitwise/ids.h"

namespace flitwise {

template <class Struct>
struct FieldAccess {
  std::uint64_t (*get)(const Struct& from) = nullptr;
  void (*set)(Struct& to, std::uint64_t value) = nullptr;
};

namespace detail {
template <class T>
constexpr std::uint64_t as_number(T value) {
  return static_cast<std::uint64_t>(value);
}
constexpr std::uint64_t as_number(Bdf value) {
  return value.value;
}
template <class T>
constexpr void assign(T& member, std::uint64_t value) {
  member = static_cast<T>(value);
}
constexpr void assign(Bdf& member, std::uint64_t value) {
  member = Bdf{static_cast<std::uint16_t>(value)};
}
template <auto Member, class Struct, class Type>
constexpr FieldAccess<Struct> access(Type Struct::* /*member*/) {
  return {[](const Struct& from) { return as_number(from.*Member); },
          [](Struct& to, std::uint64_t value) { assign(to.*Member, value); }};
}
}  // namespace detail

/// field_access<&Tlp::tc>: reads and writes that member.
template <auto Member>
inline constexpr auto field_access = detail::access<Member>(Member);

}  // namespace flitwise
