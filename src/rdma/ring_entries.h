// SPDX-License-Identifier: Apache-2.0
/// What stands in the rings that software and an RDMA adapter share, as bytes: work requests,
/// receive buffers, completions, doorbells. All numbers are little-endian. model: the layouts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "rdma/rdma_area.h"
#include "rdma/work_request.h"

namespace flitwise {

/// A work request of one piece: id, opcode and flags, local piece, remote address and key,
/// immediate, operand, compare.
using SendEntry = std::array<std::uint8_t, kWqeBytes>;
/// REQUIRES: one piece at most.
SendEntry encode(const SendWork& work);
/// None: no opcode. [VB-2]
std::optional<SendWork> decode_send(const std::uint8_t* entry);

using ReceiveEntry = std::array<std::uint8_t, kReceiveEntryBytes>;
/// REQUIRES: one piece at most.
ReceiveEntry encode(const ReceiveWork& work);
ReceiveWork decode_receive(const std::uint8_t* entry);

/// A completion fills 32 bytes, whatever room an entry has. Its phase turns with each round of the
/// ring, so that software knows an entry that is new.
inline constexpr unsigned kCompletionBytes = 32;
using CompletionEntry = std::array<std::uint8_t, kCompletionBytes>;
CompletionEntry encode(const WorkCompletion& completion, bool phase);
WorkCompletion decode_completion(const std::uint8_t* entry);
/// Of the eight bytes from kPhaseAt on.
inline constexpr unsigned kPhaseAt = 8;
constexpr bool phase_of(std::uint64_t word) {
  return (word >> 63) != 0;
}
/// Of entries that come in the given round of a ring, from 0 on: memory is 0 before.
constexpr bool phase_of_entry(std::uint64_t index, std::uint32_t entries) {
  return index / entries % 2 == 0;
}

/// Software has posted up to this entry, not included.
struct Doorbell {
  std::uint32_t queue_pair = 0;  ///< 24 bits
  bool is_receive = false;
  std::uint32_t end = 0;  ///< entries so far, modulo 2^32

  std::uint64_t encode() const {
    return std::uint64_t{end} << 32 | (is_receive ? std::uint64_t{1} << 31 : 0) | queue_pair;
  }
  static Doorbell decode(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word & 0xff'ffff), (word >> 31 & 1) != 0,
            static_cast<std::uint32_t>(word >> 32)};
  }
};

/// Software asks for one event of a completion queue, for the first entry behind those that it has
/// taken. [RDM-11]
struct CompletionArm {
  std::uint32_t queue = 0;  ///< its number
  std::uint32_t taken = 0;  ///< entries so far, modulo 2^32

  std::uint64_t encode() const { return std::uint64_t{taken} << 32 | queue; }
  static CompletionArm decode(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
  }
};

/// A command of management, to the physical function: the weight of a function from now on. [HP-8]
struct ShareCommand {
  std::uint32_t function = 0;  ///< place among those that have queue pairs
  std::uint32_t weight = 0;    ///< 1..kMostWeight

  static constexpr std::uint32_t kMostWeight = 1024;
  std::uint64_t encode() const { return std::uint64_t{weight} << 32 | function; }
  static ShareCommand decode(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
  }
};

/// A command of management, to the physical function: it takes the adapter out of service or puts
/// it back [HP-9], or makes the queue pairs of a function, and all that belongs to them, anew.
/// [HP-4]
struct AdapterCommand {
  enum class Kind : std::uint8_t { kEnable = 1, kDisable = 2, kSetUp = 3 };
  Kind kind = Kind::kEnable;
  std::uint32_t place = 0;  ///< 24 bits; kSetUp: of the function among those that have queue pairs
  std::uint32_t epoch = 0;  ///< likewise: of connections; both ends draw their first PSNs from it

  std::uint64_t encode() const {
    return std::uint64_t{epoch} << 32 | std::uint64_t{place} << 8 | static_cast<unsigned>(kind);
  }
  /// None: no such command.
  static std::optional<AdapterCommand> decode(std::uint64_t word) {
    const auto kind = static_cast<Kind>(word & 0xff);
    if (kind != Kind::kEnable && kind != Kind::kDisable && kind != Kind::kSetUp) {
      return std::nullopt;
    }
    return AdapterCommand{kind, static_cast<std::uint32_t>(word) >> 8,
                          static_cast<std::uint32_t>(word >> 32)};
  }
};

}  // namespace flitwise
