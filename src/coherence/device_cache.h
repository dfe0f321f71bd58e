// SPDX-License-Identifier: Apache-2.0
/// A cache that speaks CXL.cache: the DCOH of a type 1 or 2 device, or the cache of the host's own
/// cores, which is one more agent of its home. It answers snoops at once, except for a line whose
/// GO is here and whose data are still under way. [COH-2.1] to [COH-4.7]
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "coherence/agent_books.h"
#include "coherence/cache_array.h"
#include "coherence/core_request.h"

namespace flitwise {

struct DeviceCacheConfig {
  std::uint32_t sets = 64, ways = 4;
  std::uint32_t cqids = 64;            ///< requests that may be out; at most 4096
  std::uint8_t cache_id = 0;           ///< stands in its messages
  bool offers_clean_evictions = true;  ///< CleanEvict; else CleanEvictNoData
  bool keeps_domains_apart = false;    ///< a line serves the domain that asked for it [COH-2.9]
};

class DeviceCache {
 public:
  /// `listener` is told of all changes of states; may be absent.
  explicit DeviceCache(const DeviceCacheConfig& config, LineStateListener* listener = nullptr);

  /// What is in the way of this: its line waits for the host, or there is no CQID or way.
  /// `held`: identifiers that are free on the link, and still taken in front of it: their answers
  /// are on their way to the core.
  CoreObstacle obstacle(const CoreRequest& request, std::size_t held = 0) const;
  LineState state(std::uint64_t line) const;
  const CacheArray& lines() const { return array_; }
  std::size_t outstanding() const { return cqids_.outstanding(); }
  const BadMessageCounts& bad_messages() const { return bad_; }

  /// Does the request take a word to the home? REQUIRES: obstacle(request) is kNone.
  bool asks_home(const CoreRequest& request) const { return opcode_for(request).has_value(); }
  /// The core asks. REQUIRES: obstacle(request) is kNone.
  void request(const CoreRequest& request, CxlOutput& out, CoreResults& done);
  /// The line leaves the cache. REQUIRES: obstacle() is kDomain for a request for it.
  void give_up(std::uint64_t line, CxlOutput& out);
  /// The host is out of reach: all lines are lost, and nothing is out any more. Returns the number
  /// of modified lines among them, those on their way out included. [COH-3.10]
  std::size_t lose_all();
  /// A message of the host has come, with its line if it has one. All are taken at once: an answer
  /// or data never wait for a request, which keeps the machine free of deadlock. [COH-1.6]
  void receive(const CxlMessage& message, const CxlLine& line, CxlOutput& out, CoreResults& done);

 private:
  using Way = CacheArray::Way;
  /// A request that is out, by CQID.
  struct Transaction {
    cxl::D2hReq opcode{};
    CoreRequest request;
    bool is_of_core = true;  ///< else the eviction of a victim, which no core waits for
    bool has_go = false, has_data = false;
    bool is_pulled = false;  ///< its write data have gone
    bool is_error = false;
    /// Evictions: the state of the line, which is in request.line; with GO: the state granted.
    LineState state = LineState::kInvalid;
    std::optional<CxlMessage> snoop{};  ///< waits for the data [COH-4.5]
  };

  // The core's side.
  std::optional<cxl::D2hReq> opcode_for(const CoreRequest& request) const;
  cxl::D2hReq opcode_of_eviction(LineState state) const;
  void start_eviction(Way& way, const CoreRequest& request, bool is_of_core, CxlOutput& out);
  std::uint16_t send_request(cxl::D2hReq opcode, const CoreRequest& request, bool is_of_core,
                             CxlOutput& out);

  // The host's side.
  void snooped(const CxlMessage& snoop, CxlOutput& out);
  void answer(const CxlMessage& snoop, CxlOutput& out);
  void responded(const CxlMessage& response, CxlOutput& out, CoreResults& done);
  void granted(std::uint16_t cqid, std::uint16_t go_state, CxlOutput& out, CoreResults& done);
  void pulled(std::uint16_t cqid, const CxlMessage& response, CxlOutput& out, CoreResults& done);
  void filled(const CxlMessage& header, const CxlLine& line, CxlOutput& out, CoreResults& done);
  void settle(std::uint16_t cqid, CxlOutput& out, CoreResults& done);
  void finish(std::uint16_t cqid, CxlOutput& out, CoreResults& done);
  void send_data(std::uint16_t uqid, const CxlLine& line, std::uint64_t byte_enables, bool is_bogus,
                 CxlOutput& out) const;

  DeviceCacheConfig config_;
  CacheArray array_;
  IdPool cqids_;
  std::vector<Transaction> transactions_;  // by CQID
  LineTable<std::uint16_t> busy_;          // CQID of the request that is out for a line
  BadMessageCounts bad_;
};

}  // namespace flitwise
