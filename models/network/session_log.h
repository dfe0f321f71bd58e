// SPDX-License-Identifier: Apache-2.0
/// What has become of sessions whose handshake takes time: a row for each event of an end. [OB-2]
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/tables.h"

namespace flitwise {

struct SessionEventRow {
  std::uint64_t number = 0;
  Time at{};
  std::string device;  ///< the host
  std::uint32_t group = 0;
  std::string session;  ///< none: the group
  std::string what, cause;
};

const StatisticsTable& session_event_table();

class SessionLog {
 public:
  /// Those behind the first 4,096 are not kept.
  void add(SessionEventRow row) {
    if (rows_.size() < kMostRows) {
      row.number = rows_.size();
      rows_.push_back(std::move(row));
    }
  }
  const std::vector<SessionEventRow>& rows() const { return rows_; }

 private:
  static constexpr std::size_t kMostRows = 4096;
  std::vector<SessionEventRow> rows_;
};

}  // namespace flitwise
