// SPDX-License-Identifier: Apache-2.0
/// Memory of a device that caches its own lines and lets the host cache them (HDM-DB): it knows
/// what the host holds by MetaValue, looks into its own cache by SnpType, and takes lines back with
/// BISnp. [COH-5.3] to [COH-6.5]
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "coherence/agent_books.h"
#include "coherence/cache_array.h"
#include "coherence/core_request.h"

namespace flitwise {

struct DeviceMemoryConfig {
  std::uint32_t sets = 64, ways = 4;  ///< of the device's own cache
  std::uint32_t bitags = 64;          ///< back-invalidate snoops that may be out; at most 4096
  std::uint64_t size = std::uint64_t{1} << 30;
};

class DeviceMemory {
 public:
  DeviceMemory(const DeviceMemoryConfig& config, LineMemory& memory,
               LineStateListener* listener = nullptr);

  /// What is in the way of this request of the device's core? It knows kRead, kWrite and kEvict.
  CoreObstacle obstacle(const CoreRequest& request) const;
  LineState state(std::uint64_t line) const { return array_.state(line); }
  /// What the host may hold, as it has said.
  cxl::MetaValue host_state(std::uint64_t line) const;
  /// Lines of which the host has a copy, for all it knows.
  std::size_t host_copies() const;
  std::size_t outstanding() const { return transactions_.open_count(); }
  std::size_t bitags_out() const { return bitags_.outstanding(); }
  const BadMessageCounts& bad_messages() const { return bad_; }

  /// The core asks. REQUIRES: obstacle(request) is kNone.
  void request(const CoreRequest& request, CxlOutput& out, CoreResults& done);
  /// A message of the host has come, with its line if it has one. A request waits for a back
  /// invalidation of its line; data, BIRsp and BIConflict never do. [COH-1.6] [COH-6.3]
  void receive(const CxlMessage& message, const CxlLine& line, CxlOutput& out, CoreResults& done);
  /// The host is out of reach: it holds nothing any more, hears of none of its requests, and has
  /// nothing against what the core wants. [COH-6.6]
  void host_lost(CoreResults& done);
  void memory_read(std::uint32_t token, const CxlLine& line, CxlOutput& out, CoreResults& done);
  void memory_written(std::uint32_t token, CxlOutput& out, CoreResults& done);

 private:
  using Way = CacheArray::Way;
  enum class Kind : std::uint8_t { kHostRequest, kHostWrite, kCore, kVictim };
  struct Transaction {
    Kind kind = Kind::kCore;
    std::uint64_t line = 0;
    CxlMessage message;        ///< of the host
    CoreRequest request;       ///< of the core; request.line: what is written to memory, of all
    bool is_snooping = false;  ///< a BISnp is out for it
    bool has_turn = false;     ///< it is the one that its line is busy with
    bool is_waiting = false;   ///< for its turn
    bool is_lost = false;      ///< of a host that is gone: its answer is not waited for
    std::uint32_t next = kNobody;
  };
  struct Line {
    cxl::MetaValue host = cxl::MetaValue::kInvalid;
    std::uint32_t active = kNobody;
    TokenPool<Transaction>::Queue waiting;
  };
  /// What a request of the host gets.
  struct Grant {
    cxl::S2mNdr response;
    cxl::MetaValue host;
  };

  // The core's side (device_memory.cpp).
  void miss(std::uint32_t transaction, CxlOutput& out, CoreResults& done);
  void fetch(std::uint32_t transaction, CoreResults& done);
  void fill(std::uint32_t transaction, const CxlLine* line, CoreResults& done);
  void hit(const CoreRequest& request, CoreResults& done);
  std::uint32_t open(Kind kind, std::uint64_t line);
  void take_turn(std::uint32_t transaction);
  void finish(std::uint32_t transaction);
  void start_ready(CxlOutput& out);
  std::optional<cxl::S2mBiSnp> snoop_for(const CoreRequest& request) const;

  // The host's side (device_memory_host.cpp).
  void requested(const CxlMessage& message, const CxlLine& line, CxlOutput& out);
  bool is_sound(const CxlMessage& message);
  void refuse(const CxlMessage& message, CxlOutput& out);
  void start(std::uint32_t transaction, CxlOutput& out);
  void serve_request(std::uint32_t transaction, CxlOutput& out);
  void serve_write(std::uint32_t transaction);
  Grant grant_for(const CxlMessage& message, LineState own) const;
  void answer(std::uint32_t transaction, const CxlLine* line, CxlOutput& out);
  void snoop_answered(const CxlMessage& message, CoreResults& done);
  void conflicted(const CxlMessage& message, CxlOutput& out);

  DeviceMemoryConfig config_;
  LineMemory& memory_;
  CacheArray array_;
  LineTable<Line> lines_;
  TokenPool<Transaction> transactions_;
  std::vector<std::uint32_t> ready_;  // have got the turn of their line
  IdPool bitags_;
  std::vector<std::uint32_t> snoops_;  // transaction by BITag
  std::bitset<0x10000> tags_;          // of the host, out here
  BadMessageCounts bad_;
};

}  // namespace flitwise
