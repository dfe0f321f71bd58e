// SPDX-License-Identifier: Apache-2.0
/// DMA of a script: requests with any Requester ID, PASID and address type, whose outcome is kept
/// until it is asked for.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "ats/translation_completion.h"
#include "ats/translation_request.h"
#include "endpoint/engine.h"
#include "flitwise/config.h"
#include "script/script_line.h"
#include "tlp/splitter.h"
#include "tlp/tag_pool.h"

namespace flitwise {

class ScriptEngine : public RawEngine {
 public:
  /// A completion of a TLP sent as it is, and the token of that TLP.
  using OnCompletion = std::function<void(const Packet&, std::uint32_t token)>;

  ScriptEngine(const LinkConfig& link, const DeviceConfig& device, PacketPool& pool,
               OnCompletion on_completion);

  /// A TLP as it is. Its token is in packet->request.
  void send(PacketRef packet);
  /// Cuts a DMA into TLPs; at most one DMA is under way. Returns how many TLPs there are.
  /// Translation requests are never cut. REQUIRES: bytes <= most_bytes().
  unsigned start(const DmaOp& dma, Bdf requester, std::uint32_t token);
  /// What one DMA may be: its requests take one tag each.
  std::uint32_t most_bytes() const;

  /// Requests of the DMA that still wait for completions.
  std::size_t requests_out() const { return dma_requests_; }
  /// Bytes read, those that failed are zero.
  const std::vector<std::uint8_t>& data() const { return data_; }
  struct Failure {
    std::uint16_t tag;
    CplStatus status;
    bool is_poisoned;
  };
  const std::vector<Failure>& failures() const { return failures_; }
  /// Some request of the DMA ended without an answer.
  bool has_lost() const { return has_lost_; }
  /// Some request of the DMA has not begun on the wire.
  bool has_unsent() const;
  /// Gives up those, and returns them.
  std::vector<PacketRef> give_up_unsent();
  /// A port has dropped this packet, as malformed: if it is a request it waits no longer.
  void dropped(const Packet& packet);
  Time timeout() const { return timeout_; }  ///< completion timeout

  PacketRef next(const MaySend& may_send) override;
  void controlled(const DeviceControl& control) override;
  bool complete(const Packet& packet, Time now) override;
  PacketRef give_up_next(Time now, bool is_link_lost) override;
  Time next_timeout(Time now) const override;
  bool is_done() const override { return out_.empty() && requests_.empty(); }
  std::string waits_for() const override;

 private:
  struct Request {
    PacketRef packet;
    bool is_raw = false;
    std::uint64_t offset = 0;
    std::uint32_t received = 0;
    Reassembly reassembly;
    bool is_translation = false;  ///< then its answer follows rules of its own
    TranslationReceiver translations;
    bool is_given_out() const { return packet->stamped(Hop::kIssue) != kNotStamped; }
    bool is_on_wire() const { return packet->stamped(Hop::kSent) != kNotStamped; }
  };
  struct Unsent {
    PacketRef packet;
    bool is_dma = false;  ///< its own function has to be one that may send
  };
  Request request_of(const PacketRef& packet) const;
  /// Whether a completion is an answer to the request, brings what it asked for, and is the last.
  struct Fit {
    bool is_answer, brings_data, is_last;
  };
  static Fit fit_of(const Request& request, const Packet& packet);
  PacketRef make(const DmaOp& dma, Bdf requester, const RequestPiece& piece);
  void add_read(PacketRef packet, std::uint64_t offset);
  void take(Request& request, const Packet& packet);
  Time deadline_of(const Request& request, Time now) const;
  void finish(std::size_t index);
  PacketRef lose(std::size_t index);

  const LinkConfig link_;
  const unsigned device_tag_bits_;
  std::uint32_t mps_, mrrs_;     // as software has set them
  std::uint32_t dma_token_ = 0;  // of the last DMA: stands in Packet::request of every TLP
  const Time timeout_;
  PacketPool& pool_;
  TagPool tags_;
  std::deque<Unsent> out_;
  OnCompletion on_completion_;
  std::vector<Request> requests_;
  std::size_t dma_requests_ = 0;
  std::vector<std::uint8_t> data_;
  std::vector<Failure> failures_;
  bool has_lost_ = false;
};

}  // namespace flitwise
