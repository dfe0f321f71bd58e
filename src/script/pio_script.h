// SPDX-License-Identifier: Apache-2.0
/// The send side of one device and the cores and software that feed it, driven by lines of a
/// script.
#pragma once

#include <array>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pio/host_core.h"
#include "pio/send_engine.h"
#include "pio/sender_credits.h"
#include "script/pio_line.h"

namespace flitwise {

class PioScript {
 public:
  /// How answers look: lines as the contract of the script has them, or events with a name for each
  /// field, which tell of packets that have left as well.
  enum class Form : std::uint8_t { kLines, kEvents };
  static constexpr unsigned kPioCores = 16;
  using Sink = std::function<void(const Json&)>;

  /// Does what the line says and tells what comes of it, packets first, then credit
  /// returns, then reads and heads of SDMA.
  void run(const PioLine& line, Form form, const Sink& sink);

 private:
  friend struct PioActions;
  friend struct PioHostActions;
  friend struct PioSdmaActions;

  struct Sdma {
    std::vector<SdmaRead> reads;  // that have no answer yet, in their order
    unsigned buffer_blocks = SdmaSetup{}.buffer_blocks;
  };

  void tell_committed(const LaunchedPacket& packet);
  void tell_cleared(const LaunchedPacket& packet);
  void tell(const CreditReturn& entry);
  void tell_sdma(unsigned engine);

  SendEngine engine_;
  std::vector<HostCore> cores_ = std::vector<HostCore>(kPioCores);
  std::vector<SenderCredits> credits_ = std::vector<SenderCredits>(kSendContexts);
  std::array<Sdma, kSdmaEngines> sdma_;
  std::unordered_map<std::uint64_t, std::uint8_t> memory_;  // of the host, what was poked
  Form form_ = Form::kLines;                                // of the line at hand
  Sink sink_;
  bool holds_returns_ = false;
};

}  // namespace flitwise
