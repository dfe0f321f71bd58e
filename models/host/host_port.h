// SPDX-License-Identifier: Apache-2.0
/// A root port as software sees it: a function of bus 0, what its registers do to the link below,
/// and the requests that are out there.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/wakeup.h"
#include "config_space/capabilities.h"
#include "config_space/dhi_dvsec.h"
#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "host/handle_blocks.h"
#include "host/host_access.h"
#include "iommu/translation_agent.h"
#include "root_complex/port_seams.h"
#include "routing/routing_table.h"
#include "stats/wait_book.h"
#include "tlp/splitter.h"
#include "tlp/tag_pool.h"

namespace flitwise {

class HostPort;

/// Requests of host software that are out, by tag: their completions, their timeouts, and those
/// that wait for a tag.
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
  void refuse(HostAccess::Done done) {
    software_.after(mmio_ * 2,
                    [done = std::move(done)] { done(HostAnswer::failed(CplStatus::kUR)); });
  }
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
  const Observer* observer = nullptr;  ///< of timeouts
  const char* place = "";              ///< for the observer: the host

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

/// What is around the ports of a host.
struct PortSurroundings {
  HostAccess& software;
  HostRequestTable& requests;
  HandleBlocks& handles;
  std::optional<RoutingTable> routes = {};
  TranslationAgent* agent = nullptr;
};

class HostPort final : public PortHost {
 public:
  struct Facts {
    bool can_be_disabled = true;  ///< nothing but a device is at the other end of its link
    bool has_siblings = false;    ///< other functions of the same device
    std::uint32_t completes = 0;  ///< PcieOptions::completes
  };
  HostPort(PortSurroundings& host, unsigned index, DownstreamPort& port, const LinkPreset& link,
           Facts facts);

  /// Software's write to its configuration space.
  void write(const CfgAccess& access);
  bool is_up() const { return state_ == LinkState::kUp; }
  /// [LNK-12.11]
  void report(const FoundError& found) { tell_root(report_error(space, found)); }

  // PortHost:
  void message(const Packet& packet) override;
  bool complete(const PacketRef& packet, Time when) override {
    return host_.requests.completed(*this, packet, when);
  }
  void report(cfg::aer::Uncorrectable error, const Packet& packet) override;
  void report(cfg::aer::Correctable error) override { tell_root(report_error(space, error)); }

  DownstreamPort& wire;
  DhiDvsec dvsec;
  ConfigSpace space;
  LinkBelow below;  ///< where there is nothing but a device

 private:
  enum class LinkState : std::uint8_t { kUp, kDisabled, kDraining, kTraining };

  void tell_root(std::optional<std::uint8_t> message_code);
  std::uint16_t link_control() const;
  void end_hot_reset();
  void link_disable_written();
  void train_link();

  PortSurroundings& host_;
  const unsigned index_;
  LinkState state_ = LinkState::kUp;
  bool is_polled_ = false;  // somebody will look whether it comes up
};

}  // namespace flitwise
