// SPDX-License-Identifier: Apache-2.0
// What the host does when the device has given handles up on its order. [DHI D15]
#include "dhi/host_handle_table.h"

namespace flitwise {

// An entry that the device gave up by itself meanwhile is gone already, which is no error.
HandleStatus HostHandleTable::answered(PartitionId partition, const DeallocMessage& message,
                                       HandleStatus answer) {
  const auto index = static_cast<std::uint16_t>(partition);
  const PartitionConfig& config = partitions_[index].config;
  if (config.epoch != message.epoch) {
    return HandleStatus::kOk;
  }
  HandleStatus status = answer;
  if (status == HandleStatus::kOk) {
    const HandleStatus found = check_scope(index, message);
    status = found == HandleStatus::kNoValidEntry ? HandleStatus::kOk : found;
  }
  if (status == HandleStatus::kOk) {
    apply(config.range, message);
    return status;
  }
  if (status == HandleStatus::kEpochMismatch) {
    clear_range(config.range);
  }
  record_rejection(status, partition);
  return status;
}

}  // namespace flitwise
