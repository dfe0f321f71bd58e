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
  unsigned start(const DmaOp& dma, Bdf requester, std::uint32_t token, Time now);
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
  Time deadline() const { return deadline_; }
  /// Some of the DMA was never sent.
  bool has_unsent() const;
  /// Gives up on what still waits; its tags are free again.
  void give_up();

  PacketRef next(const MaySend& may_send) override;
  void controlled(const DeviceControl& control) override;
  bool complete(const Packet& packet, Time now) override;
  bool is_done() const override { return out_.empty(); }
  std::string waits_for() const override;

 private:
  struct Request {
    Bdf requester_id;
    std::uint16_t tag = 0;
    bool is_raw = false;
    std::uint32_t token = 0;
    std::uint64_t offset = 0;
    std::uint32_t received = 0;
    Reassembly reassembly;
    bool is_translation = false;  ///< then its answer follows rules of its own
    TranslationReceiver translations;
  };
  struct Unsent {
    PacketRef packet;
    bool is_dma = false;  ///< its own function has to be one that may send
  };
  Request request_of(const Packet& packet) const;
  /// Whether a completion is an answer to the request, brings what it asked for, and is the last.
  struct Fit {
    bool is_answer, brings_data, is_last;
  };
  static Fit fit_of(const Request& request, const Packet& packet);
  PacketRef make(const DmaOp& dma, Bdf requester, const RequestPiece& piece);
  void add_read(PacketRef packet, std::uint64_t offset);
  void take(Request& request, const Packet& packet);
  void finish(std::size_t index);

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
  Time deadline_{};
};

}  // namespace flitwise
