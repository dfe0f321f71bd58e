// SPDX-License-Identifier: Apache-2.0
/// What a hostile process writes into the PIO window: anything that page protection lets it reach,
/// which is the two pages of its own context. [PIO-2.5]
#pragma once

#include <array>
#include <cstdint>

#include "common/random.h"
#include "pio/send_window.h"

namespace flitwise {

struct HostileWrite {
  std::uint32_t offset = 0;  ///< in the window
  unsigned bytes = 0;        ///< 1..kMostBytes, all of them in the page
  static constexpr unsigned kMostBytes = 2 * kSendBlockBytes;
  std::array<std::uint8_t, kMostBytes> data{};
};

/// In most lives of its context it writes packets that are nearly right, whatever its credits; in
/// others half of its writes have any offset and any shape.
class HostileWrites {
 public:
  /// depth: of the context in blocks.
  HostileWrites(unsigned context, unsigned depth, Random random)
      : context_(context), depth_(depth), random_(random) {
    restart();
  }

  HostileWrite next();
  /// The context begins anew.
  void restart();

 private:
  HostileWrite next_block();
  HostileWrite next_anything();

  unsigned context_, depth_;
  unsigned block_ = 0;  // of the context's buffer, next in order
  unsigned left_ = 0;   // of the packet that it writes, in blocks
  bool is_wild_ = false;
  Random random_;
};

}  // namespace flitwise
