// SPDX-License-Identifier: Apache-2.0
#include "endpoint/ring_result.h"

namespace flitwise {
namespace {

TextTable ring_view(const std::vector<RingResult>& rows, const RunResult& /*result*/) {
  TextTable table({"Ring", "doorbells", "fetches", "descriptors", "failed", "bytes to device",
                   "bytes from device", "interrupts"});
  for (const RingResult& row : rows) {
    if (row.doorbells > 0) {
      table.add_row({row.device, as_cell(row.doorbells), as_cell(row.fetches),
                     as_cell(row.descriptors), as_cell(row.failed), as_cell(row.bytes_to_device),
                     as_cell(row.bytes_from_device), as_cell(row.interrupts)});
    }
  }
  return table;
}

}  // namespace

RingResult RingResult::operator-(const RingResult& before) const {
  RingResult window = *this;
  for (const auto count :
       {&RingResult::doorbells, &RingResult::fetches, &RingResult::descriptors, &RingResult::failed,
        &RingResult::failed_fetches, &RingResult::bytes_to_device, &RingResult::bytes_from_device,
        &RingResult::interrupts}) {
    window.*count -= before.*count;
  }
  return window;
}

const StatisticsTable& ring_table() {
  using Row = RingResult;
  static const Table<Row> kTable =
      Table<Row>("rings", "ring", "One row per device with a descriptor ring.")
          .name("device", &Row::device)
          .count("doorbells", &Row::doorbells, "Writes of software to the tail of the ring.")
          .count("fetches", &Row::fetches, "Reads of descriptors, of one or several.")
          .count("descriptors", &Row::descriptors, "Descriptors that were written back.")
          .count("failed", &Row::failed, "Of these, whose copy failed or was refused.")
          .count("bytes_to_device", &Row::bytes_to_device,
                 "Bytes that were copied from host memory.", "byte")
          .count("bytes_from_device", &Row::bytes_from_device,
                 "Bytes that were copied to host memory.", "byte")
          .count("interrupts", &Row::interrupts, "MSI-X interrupts that were sent.")
          .show(ring_view);
  return kTable;
}

}  // namespace flitwise
