// SPDX-License-Identifier: Apache-2.0
// Names of errors.
#include "cxl/flit_error.h"

#include "common/name_table.h"

namespace flitwise {

const char* name_of(CxlFlitError error) {
  static constexpr const char* kNames[] = {"wrong_size",      "other_protocol", "bad_crc",
                                           "unknown_control", "half_lines",     "unknown_format",
                                           "data_expected",   "no_data_owed",   "too_many_messages",
                                           "wrong_messages",  "trailer",        "too_much_owed"};
  return name_in(kNames, error);
}

const char* sentence_of(CxlFlitError error) {
  static constexpr const char* kSentences[] = {
      "a flit has 68 or 256 bytes, and 4 or 15 slots",
      "the protocol ID is not that of CXL.cache and CXL.mem",
      "the CRC does not fit",
      "no control flit of this type and subtype is modelled",
      "transfers of 32 bytes (Sz = 0) are not modelled",
      "no messages of this direction stand in such a slot with this format",
      "a chunk of data or byte enables that earlier messages announced has to stand here",
      "no message has announced data that could stand here",
      "the format of the slot holds fewer messages",
      "the format of the slot has another channel in this place",
      "trailers of S2M DRS are not modelled",
      "more than 64 lines are owed",
  };
  return name_in(kSentences, error);
}

}  // namespace flitwise
