// SPDX-License-Identifier: Apache-2.0
#include "pio/pio_result.h"

namespace flitwise {

const StatisticsTable& pio_table() {
  static const Table<PioResult> kTable =
      Table<PioResult>("pio", "pio", "One row per device that sends by PIO.")
          .name("device", &PioResult::device)
          .count("packets", &PioResult::packets, "Packets that have left by the network port.")
          .count("bytes", &PioResult::bytes, "Bytes of these on the wire: without PBC, with ICRC.",
                 "byte")
          .count("blocks", &PioResult::blocks,
                 "Blocks of 64 bytes of send contexts that were cleared in order and not returned "
                 "when the window began: returned + pending.")
          .count("sdma_packets", &PioResult::sdma_packets, "Packets of SDMA among them.")
          .count("credit_returns.threshold", &PioResult::due_to_threshold,
                 "Returns by the threshold.")
          .count("credit_returns.pbc", &PioResult::due_to_pbc,
                 "Returns that the PBC of a packet asked for.")
          .count("credit_returns.force", &PioResult::due_to_force, "Returns by ForceReturn.")
          .count("credit_returns.early", &PioResult::due_to_early,
                 "Returns by threshold or PBC when a packet was committed to egress.")
          .count("credit_returns.error", &PioResult::due_to_error, "Returns that an error forced.")
          .count("returned", &PioResult::returned, "Blocks that were returned to software.")
          .count("pending", &PioResult::pending,
                 "Blocks that are free and not returned at the end.")
          .count("posted_writes", &PioResult::posted_writes,
                 "Posted writes that came to the PIO window.")
          .count("vls", &PioResult::vls, "Virtual lanes by which packets have left.")
          .by_kind("errors", &PioResult::errors, "pio_error",
                   "Errors of contexts, and writes to contexts that are not there, by kind.");
  return kTable;
}

}  // namespace flitwise
