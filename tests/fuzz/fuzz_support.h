// SPDX-License-Identifier: Apache-2.0
/// What fuzz targets are made of: a property that has to hold, and the input as text or bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace flitwise::fuzz {

/// The bytes of an input in a block of their own, so that reading beyond them is noticed.
inline std::vector<std::uint8_t> bytes_of_input(const std::uint8_t* data, std::size_t size) {
  return size == 0 ? std::vector<std::uint8_t>{} : std::vector<std::uint8_t>(data, data + size);
}

inline std::string text_of_input(const std::uint8_t* data, std::size_t size) {
  return size == 0 ? std::string{} : std::string(reinterpret_cast<const char*>(data), size);
}

/// Takes numbers from the front of an input, the first byte on top; zeros behind its end.
class Input {
 public:
  explicit Input(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t take(unsigned bytes) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) {
      value = value << 8 | (at_ < bytes_.size() ? bytes_[at_++] : 0U);
    }
    return value;
  }
  bool is_empty() const { return at_ >= bytes_.size(); }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

[[noreturn]] inline void property_broken(const char* property, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: property broken: %s\n", file, line, property);
  std::abort();
}

}  // namespace flitwise::fuzz

/// Ends the program, so that the fuzzer keeps the input.
#define FLITWISE_PROPERTY(condition)                                     \
  do {                                                                   \
    if (!(condition)) {                                                  \
      ::flitwise::fuzz::property_broken(#condition, __FILE__, __LINE__); \
    }                                                                    \
  } while (false)

/// The entry that libFuzzer calls with each input; replay_main.cpp calls it with those of the
/// corpus. An exception that leaves it is a finding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
