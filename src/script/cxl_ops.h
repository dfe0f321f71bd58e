// SPDX-License-Identifier: Apache-2.0
/// The operations on flits of CXL.cache and CXL.mem: functions of bytes alone.
#pragma once

#include <string>

#include "script/op_reader.h"
#include "script/script_line.h"

namespace flitwise {

/// False where `op` is none of them.
bool read_cxl_op(const std::string& op, OpReader& in, ScriptLine& line);

}  // namespace flitwise
