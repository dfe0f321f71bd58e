// SPDX-License-Identifier: Apache-2.0
/// Walks the keys of one JSON object and collects what is wrong with them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/json_value.h"
#include "common/problems.h"
#include "flitwise/error.h"
#include "flitwise/ids.h"

namespace flitwise {

class JsonReader {
 public:
  JsonReader(const Json& object, JsonSource source) : object_(object), source_(std::move(source)) {
    if (!object.is_object()) {
      complain("", fmt::format("{} seen; expected an object", object.type_name()));
      finish();
    }
  }

  bool has(const char* key) const { return object_.contains(key); }

  void complain(const std::string& key, const std::string& message) {
    problems_.push_back(source_.problem(key, message));
  }

  /// Applies read(value) to a key that is there; an empty answer is fine.
  template <class Read>
  void field(const char* key, Read read) {
    known_.emplace_back(key);
    const auto found = object_.find(key);
    if (found == object_.end()) {
      return;
    }
    if (const Complaint complaint = read(*found); !complaint.empty()) {
      complain(key, complaint);
    }
  }

  /// The readers below take a value that `codec/json_value.h` reads; one that is wrong leaves `out`
  /// as it was, so that what depends on it can be checked still.
  template <class Number>
  void number(const char* key, std::uint64_t least, std::uint64_t most, Number& out) {
    take<std::uint64_t>(key, out, [&](const Json& json, std::uint64_t& number) {
      return json_value::read_number(json, least, most, number);
    });
  }
  template <class Flag>
  void flag(const char* key, Flag& out) {
    take<bool>(key, out, json_value::read_bool);
  }
  /// The place of a word in a list.
  template <class Place>
  void word(const char* key, const std::vector<std::string>& words, std::optional<Place>& out) {
    std::optional<std::size_t> place;
    take<std::size_t>(key, place, [&](const Json& json, std::size_t& value) {
      return json_value::read_word(json, words, value);
    });
    out = place ? std::optional(static_cast<Place>(*place)) : out;
  }
  std::size_t word(const char* key, const std::vector<std::string>& words) {
    std::optional<std::size_t> place;
    word(key, words, place);
    return place.value_or(0);
  }
  template <class Id>
  void bdf(const char* key, Id& out) {
    take<Bdf>(key, out, json_value::read_bdf);
  }
  /// False if the key is missing, or has no hex digits.
  bool hex(const char* key, std::vector<std::uint8_t>& out) {
    bool is_good = false;
    field(key, [&](const Json& value) {
      Complaint complaint = json_value::read_bytes(value, out);
      is_good = complaint.empty();
      return complaint;
    });
    return is_good;
  }
  /// A list of bytes of one size.
  template <std::size_t N>
  void hex(const char* key, std::array<std::uint8_t, N>& out) {
    field(key, [&](const Json& value) {
      std::vector<std::uint8_t> bytes;
      Complaint complaint = json_value::read_bytes(value, bytes);
      if (complaint.empty() && bytes.size() != N) {
        return fmt::format("{} bytes seen; expected {}", bytes.size(), N);
      }
      std::copy(bytes.begin(), bytes.end(), out.begin());
      return complaint;
    });
  }
  /// A key that somebody else reads.
  void skip(const char* key) { known_.emplace_back(key); }

  /// The keys that no reader has taken yet, for another reader.
  Json rest() {
    Json others = Json::object();
    for (const auto& item : object_.items()) {
      if (!contains(known_, item.key()) && !contains(source_.other_keys, item.key())) {
        others[item.key()] = item.value();
        known_.push_back(item.key());
      }
    }
    return others;
  }

  /// Has a reader taken this key already, or refused it?
  bool knows(const char* key) const { return contains(known_, key) || contains(foreign_, key); }

  /// A key that exists for other types.
  void foreign(const char* key, const std::string& type,
               const std::string& expected = "one of its own fields") {
    foreign_.emplace_back(key);
    if (has(key)) {
      complain(key, fmt::format("{} has no {}; expected {}", type, key, expected));
    }
  }

  /// Complains of keys that no reader took, then throws ConfigError if anything was wrong.
  void finish() {
    if (object_.is_object()) {
      complain_of_unknown_keys();
    }
    if (!problems_.empty()) {
      throw ConfigError(std::move(problems_));
    }
  }

 private:
  /// What read(json, value) makes of a key that is there.
  template <class Value, class Out, class Read>
  void take(const char* key, Out& out, Read read) {
    field(key, [&](const Json& json) {
      Value value{};
      Complaint complaint = read(json, value);
      if (complaint.empty()) {
        out = static_cast<Out>(value);
      }
      return complaint;
    });
  }
  void complain_of_unknown_keys() {
    std::vector<std::string> expected = known_;
    expected.insert(expected.end(), source_.other_keys.begin(), source_.other_keys.end());
    std::vector<std::string> all = expected;
    all.insert(all.end(), foreign_.begin(), foreign_.end());
    for (const auto& item : object_.items()) {
      if (!contains(all, item.key())) {
        complain(item.key(),
                 "unknown key; expected " + config::alternatives(expected) + hint(item.key(), all));
      }
    }
  }
  /// The nearest key by spelling, or else one that starts the word or that the word starts: "seq"
  /// for "sequence".
  static std::string hint(const std::string& word, const std::vector<std::string>& keys) {
    constexpr std::size_t kLeast = 3;
    const std::string by_spelling = config::nearest_hint(word, keys, "key");
    if (!by_spelling.empty()) {
      return by_spelling;
    }
    for (const std::string& key : keys) {
      const std::size_t length = std::min(key.size(), word.size());
      if (length >= kLeast && key.compare(0, length, word, 0, length) == 0) {
        return "; nearest key '" + key + "'";
      }
    }
    return "";
  }
  static bool contains(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  }

  const Json& object_;
  JsonSource source_;
  std::vector<std::string> known_;
  std::vector<std::string> foreign_;
  std::vector<Problem> problems_;
};

}  // namespace flitwise
