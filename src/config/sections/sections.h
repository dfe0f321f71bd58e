// SPDX-License-Identifier: Apache-2.0
/// The section tables, one function and one file for each section. A new key is a member in
/// include/flitwise/config.h and one row here; see docs/configuration.md.
#pragma once

#include <iterator>
#include <vector>

#include "config/key.h"

namespace flitwise::config {

Keys system_keys();
Key nodes_key();   ///< system.nodes, part of system_keys()
Key edges_key();   ///< system.edges, likewise
Key egress_key();  ///< system.acs.egress, likewise
Keys host_keys();
Keys iommu_driver_keys();  ///< host.iommu_driver, part of host_keys()
Keys iommu_keys();
Keys link_keys();
Keys message_keys();
Keys device_keys();
Keys device_ats_keys();  ///< device.atc and device.pri, part of device_keys()
Keys workload_keys();
Keys faults_keys();
Keys trace_keys();
Keys run_keys();

/// Puts the rows of one group behind those of another.
inline void append(Keys& all, Keys more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// A latency from nothing up to a second.
inline Limits any_latency() {
  return between(Time{0}, Time::from_us(1'000'000));
}
/// The period of a clock.
inline Limits any_clock() {
  return between(Time::from_ps(1), Time::from_us(1));
}

/// Names that are reserved for parts that are not modelled yet, with what they stand for.
struct FutureKey {
  const char* path;
  const char* what;
};
const std::vector<FutureKey>& future_keys();

}  // namespace flitwise::config
