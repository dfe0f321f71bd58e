// SPDX-License-Identifier: Apache-2.0
/// The home of the host's memory: it knows exactly who holds each line, takes one request at a time
/// for each, snoops, collects, reads and writes memory, grants and pulls. The host's own cores are
/// one more cache at a port of their own. [COH-3.1] to [COH-3.9]
///
/// No message waits here for another one except a request for the request before it. An answer or
/// data are always taken, so that what a request waits for can always come. [COH-1.6]
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "coherence/agent_books.h"
#include "coherence/cache_rules.h"
#include "coherence/cxl_line.h"

namespace flitwise {

/// Hears of a home what no message says: how long requests wait for room among those at work
/// [COH-3.9], and that a write is over which had its GO with the pull of its data [COH-3.11]. It
/// changes nothing at the home.
class HomeListener {
 public:
  virtual ~HomeListener() = default;
  /// The request has the turn of its line. It is at work at once, or waits for room.
  virtual void has_turn(std::uint32_t token) = 0;
  /// The request of the cache at `port` is at work from now on.
  virtual void is_at_work(std::uint8_t port, std::uint32_t token) = 0;
  /// Memory has what the cache at `port` wrote to the line; or the data never came, and nothing was
  /// written.
  virtual void write_over(std::uint8_t port, std::uint64_t line, bool is_written) = 0;
  /// The cache at `port` gets the line, for a request with this place among all that have come.
  virtual void granted(std::uint8_t port, std::uint64_t line, std::uint64_t arrival) = 0;
};

/// Who holds a line, exactly: one owner or any number of sharers. [COH-3.1]
using PortMask = std::uint32_t;  ///< bit i: port i
inline constexpr std::uint8_t kMaxPorts = 32;

class LineHolders {
 public:
  bool empty() const { return sharers_ == 0 && !owner_; }
  std::optional<std::uint8_t> owner() const { return owner_; }
  bool is_owner(std::uint8_t port) const { return owner_ == port; }
  bool holds(std::uint8_t port) const { return (all() & bit(port)) != 0; }
  PortMask sharers() const { return sharers_; }
  PortMask all() const { return owner_ ? sharers_ | bit(*owner_) : sharers_; }
  PortMask all_but(std::uint8_t port) const { return all() & ~bit(port); }

  void make_owner(std::uint8_t port) {
    sharers_ = 0;
    owner_ = port;
  }
  /// An owner becomes a sharer by this as well.
  void add_sharer(std::uint8_t port) {
    remove(port);
    sharers_ |= bit(port);
  }
  void remove(std::uint8_t port) {
    sharers_ &= ~bit(port);
    if (is_owner(port)) {
      owner_.reset();
    }
  }

 private:
  static constexpr PortMask bit(std::uint8_t port) { return PortMask{1} << port; }
  PortMask sharers_ = 0;
  std::optional<std::uint8_t> owner_;
};

struct HomeAgentConfig {
  std::uint8_t ports = 1;              ///< caches, at most kMaxPorts
  std::uint32_t uqids = kCxlIds;       ///< snoops and write pulls out; at least `ports`
  bool pulls_clean_evictions = false;  ///< GO_WritePull for CleanEvict; else GO_WritePullDrop
};

/// What a request may do with the line that it names [COH-3.12], and its place among all that have
/// come, which grows [COH-3.14].
struct RequestPermit {
  LineRights rights;
  std::uint64_t arrival = 0;
};

class HomeAgent {
 public:
  /// `listener` may be absent.
  HomeAgent(const HomeAgentConfig& config, LineMemory& memory, HomeListener* listener = nullptr);

  /// Requests of caches that are not done yet, waiting ones included.
  std::size_t outstanding() const { return transactions_.open_count(); }
  std::size_t uqids_out() const { return uqids_.outstanding(); }
  /// Requests that it works for at a time. [COH-3.9]
  std::uint32_t most_at_work() const { return max_active_; }
  LineHolders holders(std::uint64_t line) const;
  /// Pairs of a line and a cache that holds it.
  std::size_t copies() const;
  const BadMessageCounts& bad_messages() const { return bad_; }

  /// A message of the cache at `port` has come, with its line if it has one. REQUIRES: port <
  /// ports.
  void receive(std::uint8_t port, const CxlMessage& message, const CxlLine& line, CxlOutput& out,
               const RequestPermit& permit = {});
  /// No cache has lines of these bytes any more once this is done: it is a request with this place.
  /// [COH-3.14]
  void recall(std::uint64_t from, std::uint64_t bytes, std::uint64_t arrival, CxlOutput& out);
  /// A request from before that place is not done.
  bool has_older_than(std::uint64_t arrival) const;
  /// The cache at `port` has gone, with all that it held, wanted and had to answer; a new and empty
  /// one may come. REQUIRES: nothing that it sent is still on its way. [COH-3.10]
  void port_lost(std::uint8_t port, CxlOutput& out);
  /// The memory has done what it was asked for under this token.
  /// is_error: there is no such memory, and `line` means nothing.
  void memory_read(std::uint32_t token, const CxlLine& line, CxlOutput& out, bool is_error = false);
  void memory_written(std::uint32_t token, CxlOutput& out);

 private:
  static constexpr std::uint64_t kClosed = ~std::uint64_t{0};
  struct Transaction {
    cxl::D2hReq opcode{};
    std::uint8_t port = 0;
    std::uint16_t cqid = 0;
    std::uint64_t address = 0;
    std::uint32_t snoops = 0;  ///< not answered yet
    bool has_line = false;     ///< `line` is the line as it is now
    bool is_dirty = false;     ///< and memory has to have it
    bool is_error = false;     ///< memory does not have the line [COH-2.8]
    bool is_refused = false;   ///< it may not have what it needs: of no line [COH-3.13]
    bool may_own = true;       ///< else RdAny makes do with a shared copy [COH-3.12]
    bool is_orphan = false;    ///< its cache has gone: no answer is sent
    bool had_go = false;       ///< writes: with their pull, before memory has the line
    bool is_written = false;   ///< and their data have come
    bool was_held = false;     ///< evictions: the cache still had the line when its turn came
    CxlLine line{};
    std::uint64_t arrival = kClosed;
    std::uint32_t next = kNobody;
  };
  using Queue = TokenPool<Transaction>::Queue;
  /// A line that somebody holds or wants.
  struct Line {
    LineHolders holders;
    bool is_busy = false;  ///< one of its requests has the turn [COH-3.2]
    Queue waiting;
  };
  /// What a UQID is out for.
  struct Expected {
    std::uint32_t transaction = kNobody;
    std::uint8_t port = 0;
    bool is_pull = false;  ///< else a snoop
    cxl::H2dReq snoop{};
    bool has_response = false, has_data = false;
    CxlLine line{};  ///< data before their response
  };

  // What comes in (home_agent.cpp).
  void requested(std::uint8_t port, const CxlMessage& request, const RequestPermit& permit,
                 CxlOutput& out);
  void want_line(std::uint32_t transaction);
  void answered(std::uint8_t port, const CxlMessage& response, CxlOutput& out);
  void note_kept(std::uint8_t port, cxl::D2hRsp response, const Expected& expected);
  void data_came(std::uint8_t port, const CxlMessage& header, const CxlLine& line, CxlOutput& out);
  void snoop_done(std::uint16_t uqid, CxlOutput& out);
  bool is_expected(std::uint8_t port, std::uint16_t uqid) const;
  void give_turn(std::uint32_t transaction);
  void start_ready(CxlOutput& out);

  // What becomes of it (home_flows.cpp).
  void start(std::uint32_t transaction, CxlOutput& out);
  PortMask to_snoop(const Transaction& request) const;
  void resolve(std::uint32_t transaction, CxlOutput& out);
  void grant(std::uint32_t transaction, CxlOutput& out);
  void refuse(std::uint32_t transaction, CxlOutput& out);
  void send_grant(const Transaction& request, cxl::GoState state, CxlOutput& out);
  void resolve_eviction(std::uint32_t transaction, CxlOutput& out);
  void pull(std::uint32_t transaction, cxl::H2dRsp response, CxlOutput& out);
  void pulled(std::uint32_t transaction, const CxlMessage& header, const CxlLine& line,
              CxlOutput& out);
  void write_back(std::uint32_t transaction, CxlOutput& out);
  void finish(std::uint32_t transaction, CxlOutput& out);
  void end_turn(std::uint64_t address);
  void close(std::uint32_t transaction) {
    transactions_[transaction].arrival = kClosed;
    transactions_.close(transaction);
  }
  std::uint16_t expect(std::uint32_t transaction, std::uint8_t port);
  void respond(const Transaction& request, cxl::H2dRsp response, std::uint16_t rsp_data,
               CxlOutput& out);
  void close_cqid(const Transaction& transaction) {
    if (!transaction.is_orphan) {
      cqids_[transaction.port].reset(transaction.cqid);
    }
  }

  HomeAgentConfig config_;
  LineMemory& memory_;
  HomeListener* listener_;
  std::uint32_t max_active_;  // with so many at work no UQID is ever missing [COH-3.9]
  std::uint32_t active_ = 0;
  LineTable<Line> lines_;
  TokenPool<Transaction> transactions_;
  Queue ready_;  // have the turn of their line
  IdPool uqids_;
  std::vector<Expected> expected_;           // by UQID
  std::vector<std::bitset<kCxlIds>> cqids_;  // out, by port
  BadMessageCounts bad_;
};

}  // namespace flitwise
