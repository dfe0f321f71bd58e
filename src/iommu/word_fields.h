// SPDX-License-Identifier: Apache-2.0
/// Structures of two 64-bit words as tables of their fields, read and written by the same table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/field_access.h"

namespace flitwise {

using WordPair = std::array<std::uint64_t, 2>;

template <class Struct>
struct WordField {
  unsigned word, low, bits;     ///< the first or second word, and where in it
  FieldAccess<Struct> value{};  ///< without: nothing is made of it

  constexpr std::uint64_t mask() const { return ~std::uint64_t{0} >> (64 - bits) << low; }
};

/// A member whose bits below `shift` are not stored: the address of a page, for one.
template <class Struct, std::uint64_t Struct::*member, unsigned shift>
inline constexpr FieldAccess<Struct> kBitsAbove{
    [](const Struct& from) { return from.*member >> shift; },
    [](Struct& to, std::uint64_t value) { to.*member = value << shift; }};

/// The PASID of what may have none, and behind it the bit that says whether it has.
template <class Struct>
inline constexpr FieldAccess<Struct> kPasidOrNone{
    [](const Struct& from) { return std::uint64_t{to_int(from.pasid.value_or(Pasid{}))}; },
    [](Struct& to, std::uint64_t value) { to.pasid = Pasid{static_cast<std::uint32_t>(value)}; }};
template <class Struct>
inline constexpr FieldAccess<Struct> kHasPasid{
    [](const Struct& from) { return std::uint64_t{from.pasid.has_value() ? 1U : 0U}; },
    [](Struct& to, std::uint64_t value) {
      to.pasid = value != 0 ? to.pasid : OptionalId<Pasid>();
    }};

template <class Struct, std::size_t N>
Struct read_fields(const WordPair& words, const WordField<Struct> (&fields)[N]) {
  Struct result{};
  for (const WordField<Struct>& field : fields) {
    if (field.value.set != nullptr) {
      field.value.set(result, (words[field.word] & field.mask()) >> field.low);
    }
  }
  return result;
}

template <class Struct, std::size_t N>
WordPair words_of(const Struct& from, const WordField<Struct> (&fields)[N]) {
  WordPair words{};
  for (const WordField<Struct>& field : fields) {
    if (field.value.get != nullptr) {
      words[field.word] |= field.value.get(from) << field.low & field.mask();
    }
  }
  return words;
}

}  // namespace flitwise
