// SPDX-License-Identifier: Apache-2.0
// Names of errors.
#include "cxl/flit_error.h"

namespace flitwise {

const char* name_of(CxlFlitError error) {
  switch (error) {
    case CxlFlitError::kWrongSize:
      return "wrong_size";
    case CxlFlitError::kOtherProtocol:
      return "other_protocol";
    case CxlFlitError::kBadCrc:
      return "bad_crc";
    case CxlFlitError::kUnknownControl:
      return "unknown_control";
    case CxlFlitError::kHalfLines:
      return "half_lines";
    case CxlFlitError::kUnknownFormat:
      return "unknown_format";
    case CxlFlitError::kDataExpected:
      return "data_expected";
    case CxlFlitError::kNoDataOwed:
      return "no_data_owed";
    case CxlFlitError::kTooManyMessages:
      return "too_many_messages";
    case CxlFlitError::kWrongMessages:
      return "wrong_messages";
    case CxlFlitError::kTrailer:
      return "trailer";
    case CxlFlitError::kTooMuchOwed:
      return "too_much_owed";
  }
  return "?";
}

const char* sentence_of(CxlFlitError error) {
  switch (error) {
    case CxlFlitError::kWrongSize:
      return "a flit has 68 or 256 bytes, and 4 or 15 slots";
    case CxlFlitError::kOtherProtocol:
      return "the protocol ID is not that of CXL.cache and CXL.mem";
    case CxlFlitError::kBadCrc:
      return "the CRC does not fit";
    case CxlFlitError::kUnknownControl:
      return "no control flit of this type and subtype is modelled";
    case CxlFlitError::kHalfLines:
      return "transfers of 32 bytes (Sz = 0) are not modelled";
    case CxlFlitError::kUnknownFormat:
      return "no messages of this direction stand in such a slot with this format";
    case CxlFlitError::kDataExpected:
      return "a chunk of data or byte enables that earlier messages announced has to stand here";
    case CxlFlitError::kNoDataOwed:
      return "no message has announced data that could stand here";
    case CxlFlitError::kTooManyMessages:
      return "the format of the slot holds fewer messages";
    case CxlFlitError::kWrongMessages:
      return "the format of the slot has another channel in this place";
    case CxlFlitError::kTrailer:
      return "trailers of S2M DRS are not modelled";
    case CxlFlitError::kTooMuchOwed:
      return "more than 64 lines are owed";
  }
  return "?";
}

}  // namespace flitwise
