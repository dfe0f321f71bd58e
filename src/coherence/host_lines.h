// SPDX-License-Identifier: Apache-2.0
/// The host's lines of a device's memory (HDM-DB): a cache that speaks CXL.mem as master. It says
/// with MetaValue what it will hold and gives lines back to BISnp; where a BISnp crosses one of its
/// requests, BIConflict finds out which was first. [COH-5.6] to [COH-6.5]
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "coherence/agent_books.h"
#include "coherence/cache_array.h"
#include "coherence/core_request.h"

namespace flitwise {

struct HostLinesConfig {
  std::uint32_t sets = 64, ways = 4;
  std::uint32_t tags = 64;  ///< requests that may be out; at most kWriteBackTag
};

class HostLines {
 public:
  /// Tags of lines that a BISnp makes it write: this plus the BITag, so that none is ever missing.
  /// [COH-6.2]
  static constexpr std::uint16_t kWriteBackTag = 0x8000;
  static constexpr std::uint32_t kBiTags = 4096;

  explicit HostLines(const HostLinesConfig& config, LineStateListener* listener = nullptr);

  /// What is in the way of this request of the host's core? It knows kRead, kReadAny, kReadOnce,
  /// kWrite and kEvict. `held`: identifiers that are free on the link, and still taken in front of
  /// it: their answers are on their way to the core.
  CoreObstacle obstacle(const CoreRequest& request, std::size_t held = 0) const;
  LineState state(std::uint64_t line) const { return array_.state(line); }
  const CacheArray& lines() const { return array_; }
  /// Requests and back-invalidate snoops that are not done.
  std::size_t outstanding() const { return tags_.outstanding() + snoops_out_; }
  std::uint64_t early_conflicts() const { return early_; }
  std::uint64_t late_conflicts() const { return late_; }
  const BadMessageCounts& bad_messages() const { return bad_; }

  /// The core asks. REQUIRES: obstacle(request) is kNone.
  void request(const CoreRequest& request, CxlOutput& out, CoreResults& done);
  /// The device is out of reach: all lines are lost, and nothing is out any more. Returns the
  /// number of modified lines among them, those that no Cmp has answered yet included. [COH-6.6]
  std::size_t lose_all();
  /// A message of the device has come, with its line if it has one. Cmp, data and BIConflictAck are
  /// taken at once; a BISnp waits for nothing but these. [COH-1.6]
  void receive(const CxlMessage& message, const CxlLine& line, CxlOutput& out, CoreResults& done);

 private:
  using Way = CacheArray::Way;
  /// Whose answer a line waits for: a Tag, or this while only a BIConflictAck is missing.
  static constexpr std::uint16_t kAwaitsAck = 0xffff;
  struct Transaction {
    CxlMessage message;  ///< as it was sent
    CoreRequest request;
    bool is_of_core = true;
    bool has_cmp = false, has_data = false;
    bool is_refused = false;  ///< there is no such memory [COH-7.3]
    cxl::S2mNdr granted = cxl::S2mNdr::kCmp;
    std::optional<std::uint16_t> bitag{};  ///< a BISnp waits for it
    bool is_read() const {
      const auto opcode = static_cast<cxl::M2sReq>(message.opcode);
      return message.channel == CxlChannel::kM2sReq &&
             (opcode == cxl::M2sReq::kMemRd || opcode == cxl::M2sReq::kMemRdData);
    }
  };
  struct Snoop {
    CxlMessage message;
    bool is_out = false, awaits_ack = false, is_writing = false;
    cxl::M2sBiRsp response{};  ///< behind the line that is being written
  };

  // The core's side.
  std::optional<CxlMessage> message_for(const CoreRequest& request) const;
  void start_eviction(Way& way, const CoreRequest& request, bool is_of_core, CxlOutput& out);
  void send(CxlMessage message, const CoreRequest& request, bool is_of_core, CxlOutput& out);

  // The device's side.
  void completed(const CxlMessage& message, CxlOutput& out, CoreResults& done);
  void acknowledged(std::uint16_t bitag, CxlOutput& out);
  void written(std::uint16_t bitag, CxlOutput& out);
  void filled(const CxlMessage& message, const CxlLine& line, CxlOutput& out, CoreResults& done);
  void snooped(const CxlMessage& message, CxlOutput& out);
  void answer(std::uint16_t bitag, CxlOutput& out);
  void respond(std::uint16_t bitag, cxl::M2sBiRsp response, CxlOutput& out);
  void settle(std::uint16_t tag, CxlOutput& out, CoreResults& done);
  void finish(std::uint16_t tag, const CxlLine& line, CxlOutput& out, CoreResults& done);

  CacheArray array_;
  IdPool tags_;
  std::vector<Transaction> transactions_;  // by Tag
  LineTable<std::uint16_t> busy_;          // Tag or kAwaitsAck, by line
  std::vector<Snoop> snoops_;              // by BITag
  std::size_t snoops_out_ = 0;
  std::uint64_t early_ = 0, late_ = 0;
  BadMessageCounts bad_;
};

}  // namespace flitwise
