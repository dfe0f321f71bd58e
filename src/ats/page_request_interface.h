// SPDX-License-Identifier: Apache-2.0
/// The Page Request Interface of a physical function, shared with its virtual functions: groups,
/// indices and credits, what each response does, and how the interface stops and starts.
/// [PRI-01] to [PRI-03] [PRI-06] [PRI-09] to [PRI-12] [PRI-19] to [PRI-38]
#pragma once

#include <array>
#include <cstdint>

#include "ats/ats_messages.h"
#include "common/slot_list.h"

namespace flitwise {

struct PageRequestConfig {
  std::uint32_t capacity = 64;       ///< Outstanding Page Request Capacity, 1..
  bool wants_response_pasid = true;  ///< PRG Response PASID Required [PRI-36]
  bool clamps_allocation = true;  ///< an allocation above the capacity: cut to it, or kept [PRI-26]
};

/// What a PRG Response turned out to be.
enum class PrgOutcome : std::uint8_t {
  kSuccess,         ///< the pages are there: translate again [PRI-08]
  kInvalidRequest,  ///< asking again would bring the same [PRI-09]
  kFailure,         ///< the interface is off until it is enabled anew [PRI-11]
  kUnexpected,      ///< no such group: UPRGI, and an unexpected completion [PRI-29]
  kIgnored,         ///< behind a Response Failure [PRI-11]
};

/// One page of a group.
struct PageWish {
  std::uint64_t address = 0;  ///< untranslated, anywhere in the page
  bool read = false;
  bool write = false;
  bool execute = false;     ///< counts beside a PASID
  bool privileged = false;  ///< counts beside a PASID
};

class PageRequestInterface {
 public:
  explicit PageRequestInterface(const PageRequestConfig& config);

  // ---- registers. Writes return whether they are a mistake of software, whose outcome the
  // registers leave open.
  /// A write of Page Request Control. R acts if Enable is clear or cleared with it; Enable is taken
  /// only by a stopped interface and clears the status flags. A mistake: enabling while it is
  /// stopping, which is not done.
  /// [PRI-20] [PRI-22] [PRI-23] [PRI-24]
  bool write_control(bool enable, bool reset);
  /// A write of Page Request Status; ones clear.
  void write_status(bool response_failure, bool unexpected_index);
  /// A mistake: while enabled, which is not done, and above the capacity. [PRI-25] [PRI-26]
  bool write_allocation(std::uint32_t requests);
  bool is_enabled() const { return is_enabled_; }
  bool is_stopped() const { return is_stopped_; }  ///< means something while not enabled
  bool has_response_failure() const { return response_failure_; }
  bool has_unexpected_index() const { return unexpected_index_; }
  std::uint32_t allocation() const { return allocation_; }
  const PageRequestConfig& config() const { return config_; }
  /// Function level or conventional reset of the physical function. [PRI-38] [CFG-09]
  void reset();

  // ---- page requests
  /// Whether a group of so many pages can start: enabled, not failed, an index free and credits for
  /// all of it.
  /// [PRI-12] [PRI-19] [PRI-27] [PRI-28]
  bool can_open(unsigned pages) const;
  /// Requests that may go beside those that are out. [PRI-12]
  std::uint32_t credits() const;
  /// Takes an index and all credits of the group. REQUIRES: can_open(), pages > 0.
  std::uint16_t open_group(Bdf function, OptionalId<Pasid> pasid, unsigned pages);
  /// The next request of the group; L on its last one. Goes on while the interface is stopping.
  /// REQUIRES: the group has requests left. [PRI-02] [PRI-03]
  PageRequest next_request(std::uint16_t index, const PageWish& wish);
  /// Says that the PASID will ask for nothing more. Takes neither index nor credit and gets no
  /// answer. model: its index is 0. [PRI-06] [PRI-07]
  static PageRequest stop_marker(Bdf function, Pasid pasid);
  /// [PRI-09] [PRI-10] [PRI-11] [PRI-29] [PRI-30] [PRI-34]
  PrgOutcome respond(const PrgResponse& response);
  /// FLR of one virtual function: its groups are forgotten. [PRI-38]
  void forget(Bdf function);

  unsigned outstanding_groups() const { return indices_.used().size(); }

 private:
  struct Group {
    Bdf function;
    OptionalId<Pasid> pasid;
    std::uint32_t pages = 0;
    std::uint32_t left = 0;  ///< requests not sent yet
  };
  bool is_answer_to(const Group& group, const PrgResponse& response) const;
  void close(Slot index);
  void close_all();

  const PageRequestConfig config_;
  std::array<Group, kPrgIndices> groups_{};
  SlotPool indices_{kPrgIndices};
  std::uint32_t allocation_ = 0;
  std::uint32_t in_use_ = 0;
  bool is_enabled_ = false;
  bool is_stopped_ = true;
  bool has_failed_ = false;  ///< until enabled anew, whatever becomes of the status bit
  bool response_failure_ = false;
  bool unexpected_index_ = false;
};

}  // namespace flitwise
