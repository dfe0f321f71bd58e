// SPDX-License-Identifier: Apache-2.0
/// Requests of host software that are out, by tag: their completions, their timeouts, and those
/// that wait for a tag.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "common/wakeup.h"
#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "host/host_access.h"
#include "stats/wait_book.h"
#include "tlp/reassembly.h"
#include "tlp/tag_pool.h"

namespace flitwise {

class HostPort;

class HostRequestTable {
 public:
  static constexpr unsigned kMaxRead = 4096;
  struct Request {
    PacketRef packet;
    HostPort* port = nullptr;
    HostAccess::Done done;
    Time since{};  // it waits for a tag
  };

  /// Errors are counted in `errors`; `wakeup` is asked for when a timeout may be over. All that it
  /// refers to outlives it.
  HostRequestTable(const HostConfig& config, PacketPool& pool, HostAccess& software, Wakeup& wakeup,
                   std::map<std::string, std::uint64_t>& errors);

  void send(Request request);
  /// Answers with UR: nobody has what was asked for.
  void refuse(HostAccess::Done done);
  /// False: no request waits for it that went out by this port.
  bool completed(const HostPort& port, const PacketRef& packet, Time when);
  /// The link below the port has gone down: no answer will come. [LNK-10.5]
  void refuse_requests_of(const HostPort& port);
  void check_timeouts();

  std::uint64_t accesses() const { return last_serial_; }
  std::size_t in_flight() const { return in_flight_; }
  bool is_quiet() const { return in_flight_ == 0 && waiting_.empty(); }
  /// Waits for a tag.
  WaitBook tag_waits;

 private:
  struct Outstanding {
    Request request;
    Reassembly reassembly;
    HostAnswer answer;
    std::uint64_t serial = 0;  // 0: free
  };
  struct Deadline {
    Time when;
    std::uint16_t tag;
    std::uint64_t serial;
  };

  void finish(std::uint16_t tag, Time delay);

  const Time mmio_, step_, completion_timeout_;
  PacketPool& pool_;
  HostAccess& software_;
  Wakeup& wakeup_;
  std::map<std::string, std::uint64_t>& errors_;
  TagPool tags_{8};
  std::vector<Outstanding> outstanding_;  // by tag
  std::size_t in_flight_ = 0;
  std::uint64_t last_serial_ = 0;
  std::deque<Deadline> deadlines_;
  std::deque<Request> waiting_;  // for a tag
};

}  // namespace flitwise
