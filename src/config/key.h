// SPDX-License-Identifier: Apache-2.0
/// One row of a section table: a key, where its value lives, what it may be, and one sentence.
/// Reading, validation, schema, effective config and documentation all come from these rows.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/quantity.h"
#include "config/document.h"
#include "config/names.h"
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
/// A canonical value as a file has it.
inline std::string as_text(const nlohmann::ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}
using Keys = std::vector<Key>;

/// Reads and sets one member, as a T.
template <class T>
struct Access {
  std::function<T(const Config&)> get;
  std::function<void(Config&, T)> set;

  Access(std::function<T(const Config&)> getter, std::function<void(Config&, T)> setter)
      : get(std::move(getter)), set(std::move(setter)) {}
  /// Made from a lambda that gives the address of the member; of a Time its femtoseconds count.
  template <class At, class Member = decltype(std::declval<At>()(std::declval<Config&>()))>
  Access(At at) {
    using Kept = std::remove_pointer_t<Member>;
    if constexpr (std::is_same_v<Kept, Time>) {
      get = [at](const Config& config) { return static_cast<T>(at(config)->fs); };
      set = [at](Config& config, T value) { at(config)->fs = static_cast<std::int64_t>(value); };
    } else {
      get = [at](const Config& config) { return static_cast<T>(*at(config)); };
      set = [at](Config& config, T value) { *at(config) = static_cast<Kept>(value); };
    }
  }
};

/// Limits of a whole number, in units of the stored integer. Both ends are valid.
struct Limits {
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  bool is_power_of_two = false;
  std::vector<std::uint64_t> only = {};  ///< if not empty: nothing else
  std::string zero_name = {};  ///< if not empty: the word that stands for 0, which is refused
};
inline Limits between(std::uint64_t min, std::uint64_t max) {
  return {min, max};
}
inline Limits between(Time min, Time max) {
  return {static_cast<std::uint64_t>(min.fs), static_cast<std::uint64_t>(max.fs)};
}
inline Limits power_of_two(std::uint64_t min, std::uint64_t max) {
  return {min, max, true};
}
inline Limits only(const std::vector<std::uint64_t>& values) {
  return {values.front(), values.back(), false, values};
}
/// 0 is written as `name`, every other value as before.
inline Limits or_zero_as(const std::string& name, Limits limits) {
  limits.zero_name = name;
  return limits;
}

/// The index of a word; none, and reported, where it is not among them.
std::optional<std::size_t> index_of(const Value& value, const std::vector<std::string>& words,
                                    const std::string& expected, const ReadContext& context);

// The builders that tables use.

/// A plain whole number.
Key count(const std::string& path, const Access<std::uint64_t>& member, const Limits& limits,
          const std::string& sentence);
/// A number with a unit of the dimension; `unit` is what documentation calls it.
Key quantity(const std::string& path, const std::string& unit, const Dimension& dimension,
             const Access<std::uint64_t>& member, const Limits& limits,
             const std::string& sentence);
/// A number of bytes, written with B, KiB, MiB or GiB.
inline Key size(const std::string& path, const Access<std::uint64_t>& member, const Limits& limits,
                const std::string& sentence) {
  return quantity(path, "size", size_dimension(), member, limits, sentence);
}
/// A Time, written with fs, ps, ns, us, ms or s.
inline Key time(const std::string& path, const Access<std::uint64_t>& member, const Limits& limits,
                const std::string& sentence) {
  return quantity(path, "time", time_dimension(), member, limits, sentence);
}
/// A double in units of `scale` of the dimension, such as Gb/s.
Key rate(const std::string& path, const Access<double>& member, const std::string& unit,
         const Dimension& dimension, std::uint64_t scale, const Limits& limits,
         const std::string& sentence);
/// A plain number with a fraction; both ends are valid.
Key real(const std::string& path, const Access<double>& member, double min, double max,
         const std::string& sentence);
/// A share, written in percent: "1%"; the limits are percents.
Key percent(const std::string& path, const Access<double>& member, double min, double max,
            const std::string& sentence);
/// true or false.
Key flag(const std::string& path, const Access<bool>& member, const std::string& sentence);
/// One of the words.
Key word(const std::string& path, const Access<std::string>& member,
         const std::vector<std::string>& words, const std::string& sentence);
/// The path of a file that has to exist, or one of the words; empty: none.
Key file(const std::string& path, const Access<std::string>& member,
         const std::vector<std::string>& words, const std::string& sentence);
/// A list of whole numbers, each within the limits; may be empty.
Key counts(const std::string& path, const Access<std::vector<std::uint64_t>>& member,
           const Limits& limits, const std::string& sentence);
/// A rising list of numbers from 1.
Key ordinals(const std::string& path, const Access<std::vector<std::uint64_t>>& member,
             const std::string& sentence);
/// A list of words, as a set: bit i for the i-th word.
Key set_of(const std::string& path, const Access<std::uint32_t>& member,
           const std::vector<std::string>& words, const std::string& sentence);

/// The names of an enumeration, in order.
template <class E>
std::vector<std::string> words_of() {
  return {kNames<E>.begin(), kNames<E>.end()};
}
/// One of the names of an enumeration.
template <class At>
Key choice(const std::string& path, At at, const std::string& sentence) {
  using E = std::remove_reference_t<decltype(*at(std::declval<Config&>()))>;
  return word(path,
              {[at](const Config& c) { return spelling(*at(c)); },
               [at](Config& c, const std::string& name) { *at(c) = *named<E>(name); }},
              words_of<E>(), sentence);
}

}  // namespace flitwise::config
