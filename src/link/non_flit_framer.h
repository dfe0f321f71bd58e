// SPDX-License-Identifier: Apache-2.0
/// PCIe generations 1 to 5: each TLP and each DLLP is framed on its own; Ack/Nak, replay and
/// credits by DLLPs.
#pragma once

#include "link/data_link_framer.h"

namespace flitwise {

class NonFlitFramer : public DataLinkFramer {
 public:
  NonFlitFramer(const LinkConfig& link, TransactionQueues& queues, PacketPool& pool);

  bool next(Time now, WireUnit& unit) override;
  void sent(const WireUnit& unit, Time last) override;
  void receive(const WireUnit& unit, bool is_damaged, Time now,
               std::vector<PacketRef>& delivered) override;

 protected:
  /// next() would give something.
  bool has_work(Time now) const;

 private:
  bool next_dllp(Time now, WireUnit& unit);
  bool next_tlp(Time now, WireUnit& unit);
};

}  // namespace flitwise
