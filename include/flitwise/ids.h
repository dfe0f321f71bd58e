// SPDX-License-Identifier: Apache-2.0
/// Identifiers of the field as distinct types, never interchangeable integers.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

namespace flitwise {

/// Bus, device and function of a PCIe function: a Requester ID or Completer ID. [LNK-2.3]
struct Bdf {
  std::uint16_t value = 0;  ///< [15:8] bus, [7:3] device, [2:0] function

  static constexpr Bdf of(unsigned bus, unsigned device, unsigned function) {
    return {static_cast<std::uint16_t>(((bus & 0xffU) << 8) | ((device & 0x1fU) << 3) |
                                       (function & 7U))};
  }
  constexpr unsigned bus() const { return value >> 8; }
  constexpr unsigned device() const { return (value >> 3) & 0x1fU; }
  constexpr unsigned function() const { return value & 7U; }
  friend constexpr bool operator==(Bdf a, Bdf b) { return a.value == b.value; }
  friend constexpr bool operator!=(Bdf a, Bdf b) { return a.value != b.value; }
  friend constexpr bool operator<(Bdf a, Bdf b) { return a.value < b.value; }
};

/// Requester ID of the root complex, in the host's requests and in all messages that it sends.
inline constexpr Bdf kRootComplexId{};

/// model: Vendor ID of all functions, of their subsystems and of what is vendor-defined. It belongs
/// to no company in the list pci.ids; a test looks there. No claim to a number of the PCI-SIG.
inline constexpr std::uint16_t kModelVendor = 0xf17d;

/// Process Address Space ID, 20 bits.
enum class Pasid : std::uint32_t {};
inline constexpr unsigned kPasidBits = 20;
/// Of tables of the translation agent: 16 bits, and 0 names none.
inline constexpr unsigned kMostDomainIds = 0xffff;

/// Device Handle Identifier, 2 to 12 bits on the wire. [DHI D6]
enum class Dhi : std::uint16_t {};

/// What of a process a handle may name beside the whole of it. The codes stand on the wire.
/// [DHI D22]
enum class ContextKind : std::uint8_t {
  kProcess = 0,  ///< nothing: the process itself
  kQueuePair = 1,
  kDedicatedWorkQueue = 2,
  kSharedWorkQueue = 3,
  kWorkCommand = 4,
};
inline constexpr unsigned kContextKinds = 5;
inline constexpr unsigned kContextNumberBits = 24;
inline constexpr std::uint32_t kMostContexts = 1U << kContextNumberBits;

/// A context of a process, as a handle may stand for it: its kind, and its number inside its
/// function among those of the kind. One word, as in an ALLOC: docs/formats/dhi_contexts.md.
class ContextId {
 public:
  constexpr ContextId() = default;  ///< none: the process itself
  /// REQUIRES: kind is not kProcess, number < kMostContexts.
  constexpr ContextId(ContextKind kind, std::uint32_t number)
      : word_(static_cast<std::uint32_t>(kind) << kKindShift | number) {}
  /// Empty for a word that no context has; 0 is none.
  static constexpr std::optional<ContextId> of_word(std::uint32_t word) {
    const std::uint32_t kind = word >> kKindShift, rest = word & ((1U << kKindShift) - 1U);
    if (kind >= kContextKinds || rest >= kMostContexts || (kind == 0 && rest != 0)) {
      return std::nullopt;
    }
    ContextId context;
    context.word_ = word;
    return context;
  }

  constexpr explicit operator bool() const { return word_ != 0; }
  constexpr ContextKind kind() const { return static_cast<ContextKind>(word_ >> kKindShift); }
  constexpr std::uint32_t number() const { return word_ & (kMostContexts - 1U); }
  constexpr std::uint32_t word() const { return word_; }
  friend constexpr bool operator==(ContextId a, ContextId b) { return a.word_ == b.word_; }
  friend constexpr bool operator!=(ContextId a, ContextId b) { return !(a == b); }

 private:
  static constexpr unsigned kKindShift = 28;
  std::uint32_t word_ = 0;
};

/// Dense index of a domain (a VM, a process, a context) inside one device; not a wire field.
enum class DomainId : std::uint32_t {};

constexpr std::uint32_t to_int(Pasid p) {
  return static_cast<std::uint32_t>(p);
}
constexpr std::uint16_t to_int(Dhi d) {
  return static_cast<std::uint16_t>(d);
}
constexpr std::uint32_t to_int(DomainId d) {
  return static_cast<std::uint32_t>(d);
}

/// An identifier or none, with what std::optional offers. In one register: an optional is written
/// in pieces, and a processor waits when it has to read them back as one word, which each packet
/// would pay several times. REQUIRES: no identifier has all bits of its type set.
template <class Id>
class OptionalId {
 public:
  constexpr OptionalId() = default;
  constexpr OptionalId(std::nullopt_t /*none*/) {}
  constexpr OptionalId(Id id) : value_(id) {}
  constexpr OptionalId(std::optional<Id> id) : value_(id.value_or(kNone)) {}

  constexpr bool has_value() const { return value_ != kNone; }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr Id operator*() const { return value_; }  ///< REQUIRES: has_value()
  constexpr Id value() const { return value_; }      ///< likewise
  constexpr Id value_or(Id other) const { return has_value() ? value_ : other; }
  constexpr void reset() { value_ = kNone; }
  friend constexpr bool operator==(OptionalId a, OptionalId b) { return a.value_ == b.value_; }
  friend constexpr bool operator!=(OptionalId a, OptionalId b) { return !(a == b); }

 private:
  static constexpr Id kNone =
      static_cast<Id>(std::numeric_limits<std::underlying_type_t<Id>>::max());
  Id value_ = kNone;
};

/// Who a message belongs to, in full: what a handle stands for. [DHI D7]
struct DeviceIdentity {
  Bdf bdf;
  bool privileged_mode_requested = false;  ///< PMR of the PASID prefix
  bool execute_requested = false;          ///< ER of the PASID prefix
  OptionalId<Pasid> pasid;                 ///< absent: the device or context has no PASID

  constexpr DeviceIdentity() = default;
  constexpr DeviceIdentity(Bdf routing_id, OptionalId<Pasid> id = {}, bool privileged = false,
                           bool execute = false)
      : bdf(routing_id),
        privileged_mode_requested(privileged),
        execute_requested(execute),
        pasid(id) {}
  /// All of it at once: it has the size of a word, and no padding.
  friend bool operator==(const DeviceIdentity& a, const DeviceIdentity& b) {
    static_assert(std::has_unique_object_representations_v<DeviceIdentity> &&
                  sizeof(DeviceIdentity) == 8);
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
  friend bool operator!=(const DeviceIdentity& a, const DeviceIdentity& b) { return !(a == b); }
};

}  // namespace flitwise
