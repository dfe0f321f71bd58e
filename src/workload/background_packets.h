// SPDX-License-Identifier: Apache-2.0
/// Packets of other traffic that share queues and hashes: plain UDP that nobody answers. [NW-7]
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "common/random.h"
#include "common/ranges.h"
#include "flitwise/time.h"

namespace flitwise {

enum class BackgroundKind : std::uint8_t { kPoisson, kOnOff, kConstant };
constexpr const char* name_of(BackgroundKind kind) {
  constexpr const char* kNames[] = {"poisson", "on_off", "cbr"};
  return name_in(kNames, kind);
}

/// Of one stream of packets.
struct BackgroundRules {
  BackgroundKind kind = BackgroundKind::kPoisson;
  double gbps = 10;            ///< on average; above 0. on_off: see `on`
  std::uint32_t bytes = 1082;  ///< of a packet on the wire
  /// on_off: means of exponential times with packets one behind the other and without any. While
  /// on, the rate is so much higher that the average is as asked.
  Time on = Time::from_us(50), off = Time::from_us(50);
};

/// When the next packet of the stream comes. One call a packet, without memory.
class BackgroundPackets {
 public:
  BackgroundPackets(const BackgroundRules& rules, Random random)
      : rules_(rules),
        random_(random),
        spacing_(static_cast<double>(rules.bytes) * 8e6 / rules.gbps) {
    if (rules_.kind == BackgroundKind::kOnOff) {
      spacing_ *= share_on();
      end_ = random_.exponential(static_cast<double>(rules_.on.fs));
    } else if (rules_.kind == BackgroundKind::kConstant) {
      at_ = random_.real() * spacing_;  // streams do not beat together
    }
  }
  Time next() {
    const double at = at_;
    switch (rules_.kind) {
      case BackgroundKind::kPoisson: at_ += random_.exponential(spacing_); return time(at_);
      case BackgroundKind::kConstant: at_ += spacing_; break;
      case BackgroundKind::kOnOff:
        at_ += spacing_;
        while (at_ >= end_) {  // what is left of the spacing comes behind the pause
          const double pause = random_.exponential(static_cast<double>(rules_.off.fs));
          at_ += pause;
          end_ += pause + random_.exponential(static_cast<double>(rules_.on.fs));
        }
        break;
    }
    return time(at);
  }

 private:
  static Time time(double fs) { return {static_cast<std::int64_t>(fs)}; }
  double share_on() const {
    return static_cast<double>(rules_.on.fs) / static_cast<double>((rules_.on + rules_.off).fs);
  }

  BackgroundRules rules_;
  Random random_;
  double spacing_;           // fs; while on
  double at_ = 0, end_ = 0;  // fs: of the next packet, of the time with packets
};

}  // namespace flitwise
