// SPDX-License-Identifier: Apache-2.0
/// What of a run is measured, and the figures of that part: from the end of the warm-up to the end
/// of the last request. docs/statistics.md says where a window begins and ends.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "common/component_list.h"
#include "flitwise/result.h"

namespace flitwise {

/// Of these counts, those that have grown since, and by how much.
Component::Counts grown(const Component::Counts& counts, const Component::Counts& before);

class Measurement {
 public:
  /// `components` outlives it.
  explicit Measurement(const ComponentList& components);

  /// Errors so far are of the boot: software probes what is not there.
  void forget_errors();
  /// The device issues its first counted request now: what belongs to it alone is measured from
  /// here on, and with the first device what all share. with_traffic: a direction of a link begins
  /// with its first counted TLP.
  void open(std::size_t device, bool with_traffic);
  bool is_open(std::size_t device) const { return is_open_[device]; }
  bool is_open() const { return begin_.has_value(); }

  /// The last request of the device is over: its window ends now.
  void close(std::size_t device);
  bool is_closed(std::size_t device) const { return is_closed_[device]; }
  /// The last request of all is over: nothing that comes later is measured.
  void close();
  bool is_closed() const { return end_.has_value(); }
  /// There is more to come after all.
  void extend();

  /// Rows, waits and errors of all components, and the time that the window spans.
  void fill(RunResult& result) const;

 private:
  void begin(const ComponentList::Components& list, bool with_traffic);

  const ComponentList& components_;
  std::map<const Component*, Component::Counts> before_;  // errors at the begin of each window
  std::vector<bool> is_open_, is_closed_;                 // by device
  std::optional<Time> begin_, end_;
};

}  // namespace flitwise
