// SPDX-License-Identifier: Apache-2.0
/// What of a run is measured, and the figures of that part: from the end of the warm-up to the end
/// of the last request. docs/statistics.md says where a window begins and ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flitwise/result.h"
#include "host/host_node.h"
#include "system/fabric.h"

namespace flitwise {

class Measurement {
 public:
  /// `fabric` and `hosts` outlive it.
  Measurement(Fabric& fabric, const Hosts& hosts);

  /// Errors so far are of the boot: software probes what is not there.
  void forget_errors();
  /// The device issues its first counted request now: what belongs to it alone is measured from
  /// here on, and with the first device what all share. from_first_counted: a direction of a link
  /// begins with its first counted TLP.
  void open(std::size_t device, bool from_first_counted);
  bool is_open(std::size_t device) const { return is_open_[device]; }
  bool is_open() const { return begin_.has_value(); }
  /// `start` begins the window of something else that all devices share.
  void on_open(std::function<void()> start) { starts_.push_back(std::move(start)); }

  /// The last request of the device is over: the window of its link ends now.
  void close(std::size_t device);
  bool is_closed(std::size_t device) const { return is_closed_[device]; }
  /// The last request of all is over: nothing that comes later is measured.
  void close();
  bool is_closed() const { return end_.has_value(); }
  /// There is more to come after all.
  void extend();

  /// Links, handles, errors and the time that the window spans.
  void fill(RunResult& result) const;

 private:
  using Errors = std::map<std::string, std::uint64_t>;
  /// A component that counts errors.
  struct ErrorSource {
    std::function<Errors()> count;
    std::optional<std::size_t> device;  // that it belongs to; of all where empty
    Errors before;                      // its window
  };

  bool is_shared(std::size_t link) const;
  void note_errors(std::optional<std::size_t> device);
  LinkResult link_result(std::size_t index) const;
  DhiResult dhi_result(const FabricDevice& device) const;
  Errors errors() const;

  Fabric& fabric_;
  std::vector<ErrorSource> error_sources_;
  std::vector<bool> is_open_, is_closed_;  // by device
  std::optional<Time> begin_, end_;
  std::vector<std::function<void()>> starts_;
};

}  // namespace flitwise
