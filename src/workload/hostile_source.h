// SPDX-License-Identifier: Apache-2.0
/// TLPs that a device without manners might send: every type with random fields, forged
/// identities, mutated encodings, plain noise. docs/workloads.md lists the kinds.
#pragma once

#include <cstdint>
#include <vector>

#include "common/random.h"
#include "dhi/handle_types.h"
#include "flitwise/ids.h"
#include "tlp/identity.h"

namespace flitwise {

/// What the device knows of the machine it attacks.
struct HostileTarget {
  Bdf base;                  ///< its first function
  unsigned functions = 1;    ///< how many it really has
  std::uint64_t memory = 0;  ///< bytes of host memory
  std::uint64_t buffer = 0;  ///< where others keep their buffers
  IdentityForm form;
  HandleRange handles;  ///< that it was given
};

class HostileSource {
 public:
  HostileSource(const HostileTarget& target, const Random& random);

  /// The bytes of one TLP, valid until the next call; 0 to 4,160 of them, valid or not.
  const std::vector<std::uint8_t>& next();

 private:
  void encode_valid();
  void encode_handle_message();
  void mutate();
  Tlp request();
  void fill_memory(Tlp& tlp);
  void fill_message(Tlp& tlp);
  void fill_completion(Tlp& tlp);
  void fill_config_or_io(Tlp& tlp);
  void fill_prefixes(Tlp& tlp);
  DeviceIdentity identity();
  Bdf requester();
  Dhi handle();
  std::uint64_t address();
  unsigned length_dw();
  template <class Number = unsigned>
  Number below(std::uint64_t bound) {
    return static_cast<Number>(random_.below(bound));
  }
  bool one_in(unsigned n) { return random_.below(n) == 0; }

  const HostileTarget target_;
  Random random_;
  std::vector<std::uint8_t> payload_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace flitwise
