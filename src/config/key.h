// SPDX-License-Identifier: Apache-2.0
/// One row of a section table: a key, where its value lives, what it may be, and one sentence.
/// Reading, validation, schema, effective config and documentation all come from these rows.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "config/document.h"
#include "config/names.h"
#include "config/quantity.h"
#include "flitwise/config.h"

namespace flitwise::config {

/// What reading one value may need beside the value.
struct ReadContext {
  std::function<void(const Place&, const std::string&)> report;  ///< a problem with the value
  std::vector<std::string> directories;  ///< where relative paths start, tried in this order
  /// Where one item of a list was written, by its path ("system.edges[2].to"); may be empty.
  std::function<void(const std::string&, const Place&)> note = {};
};

struct Key {
  std::string path;   ///< "link.mps"
  std::string unit;   ///< "size", "time", ...; empty for plain values
  std::string range;  ///< in words
  std::string sentence;
  std::vector<std::string> values;  ///< every valid word, where there are only so many
  nlohmann::ordered_json schema;    ///< JSON Schema of the value as it stands in a file
  std::function<void(Config&, const Value&, const ReadContext&)> read;
  std::function<nlohmann::ordered_json(const Config&)> write;  ///< canonical spelling
};
using Keys = std::vector<Key>;

/// Reads and sets one member. Made from a lambda such as `[](auto& c) { return &c.link.mps; }`.
template <class T>
struct Access {
  std::function<T(const Config&)> get;
  std::function<void(Config&, T)> set;
};
template <class T, class At>
Access<T> access(At at) {
  return {[at](const Config& config) { return static_cast<T>(*at(config)); },
          [at](Config& config, T value) {
            auto* const member = at(config);
            *member = static_cast<std::remove_reference_t<decltype(*member)>>(value);
          }};
}

/// Limits of a whole number, in units of the stored integer. Both ends are valid.
struct Limits {
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  bool is_power_of_two = false;
  std::vector<std::uint64_t> only;  ///< if not empty: nothing else
  std::string zero_name;            ///< if not empty: the word that stands for 0, which is refused
};
Limits between(std::uint64_t min, std::uint64_t max);
Limits between(Time min, Time max);
Limits power_of_two(std::uint64_t min, std::uint64_t max);
Limits only(std::vector<std::uint64_t> values);
/// 0 is written as `name`, every other value as before.
Limits or_zero_as(const std::string& name, Limits limits);

namespace rows {
Key count(const std::string& path, Access<std::uint64_t> member, const Limits& limits,
          const std::string& sentence);
Key quantity(const std::string& path, const std::string& unit, const Dimension& dimension,
             Access<std::uint64_t> member, const Limits& limits, const std::string& sentence);
Key real(const std::string& path, Access<double> member, double min, double max,
         const std::string& sentence);
Key flag(const std::string& path, Access<bool> member, const std::string& sentence);
Key word(const std::string& path, Access<std::string> member, const std::vector<std::string>& words,
         const std::string& sentence);
Key file(const std::string& path, Access<std::string> member, const std::vector<std::string>& words,
         const std::string& sentence);
Key ordinals(const std::string& path, Access<std::vector<std::uint64_t>> member,
             const std::string& sentence);
Key words(const std::string& path, Access<std::uint32_t> set, const std::vector<std::string>& words,
          const std::string& sentence);
}  // namespace rows

// The builders that tables use. `at` is a lambda that gives the address of the member.

/// A plain whole number.
template <class At>
Key count(const std::string& path, At at, const Limits& limits, const std::string& sentence) {
  return rows::count(path, access<std::uint64_t>(at), limits, sentence);
}
/// A number of bytes, written with B, KiB, MiB or GiB.
template <class At>
Key size(const std::string& path, At at, const Limits& limits, const std::string& sentence) {
  return rows::quantity(path, "size", size_dimension(), access<std::uint64_t>(at), limits,
                        sentence);
}
/// A Time, written with fs, ps, ns, us, ms or s.
template <class At>
Key time(const std::string& path, At at, const Limits& limits, const std::string& sentence) {
  return rows::quantity(
      path, "time", time_dimension(),
      {[at](const Config& c) { return static_cast<std::uint64_t>(at(c)->fs); },
       [at](Config& c, std::uint64_t fs) { at(c)->fs = static_cast<std::int64_t>(fs); }},
      limits, sentence);
}
/// A double in units of `scale` of the dimension, such as Gb/s.
template <class At>
Key rate(const std::string& path, const std::string& unit, const Dimension& dimension,
         std::uint64_t scale, At at, const Limits& limits, const std::string& sentence) {
  const auto unit_size = static_cast<double>(scale);
  return rows::quantity(path, unit, dimension,
                        {[at, unit_size](const Config& c) {
                           return static_cast<std::uint64_t>(*at(c) * unit_size + 0.5);
                         },
                         [at, unit_size](Config& c, std::uint64_t value) {
                           *at(c) = static_cast<double>(value) / unit_size;
                         }},
                        limits, sentence);
}
/// A plain number with a fraction; both ends are valid.
template <class At>
Key real(const std::string& path, At at, double min, double max, const std::string& sentence) {
  return rows::real(path, access<double>(at), min, max, sentence);
}
/// true or false.
template <class At>
Key flag(const std::string& path, At at, const std::string& sentence) {
  return rows::flag(path, access<bool>(at), sentence);
}
/// The path of a file that has to exist, or one of the words; empty: none.
template <class At>
Key file(const std::string& path, At at, const std::vector<std::string>& words,
         const std::string& sentence) {
  return rows::file(path, access<std::string>(at), words, sentence);
}
/// A rising list of numbers from 1.
template <class At>
Key ordinals(const std::string& path, At at, const std::string& sentence) {
  return rows::ordinals(path, access<std::vector<std::uint64_t>>(at), sentence);
}
/// A list of names of the enumeration E, which counts from 0, as a set: bit i for the i-th name.
template <class E, class At>
Key choices(const std::string& path, At at, const std::string& sentence) {
  std::vector<std::string> words;
  for (const Named<E>& named : kNames<E>) {
    words.emplace_back(named.name);
  }
  return rows::words(path, access<std::uint32_t>(at), words, sentence);
}
/// One of the names of an enumeration.
template <class At>
Key choice(const std::string& path, At at, const std::string& sentence) {
  using E = std::remove_reference_t<decltype(*at(std::declval<Config&>()))>;
  std::vector<std::string> words;
  for (const Named<E>& named : kNames<E>) {
    words.emplace_back(named.name);
  }
  return rows::word(path,
                    {[at](const Config& c) { return spelling(*at(c)); },
                     [at](Config& c, const std::string& word) {
                       for (const Named<E>& named : kNames<E>) {
                         if (word == named.name) {
                           *at(c) = named.value;
                         }
                       }
                     }},
                    words, sentence);
}

}  // namespace flitwise::config
