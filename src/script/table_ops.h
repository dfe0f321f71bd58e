// SPDX-License-Identifier: Apache-2.0
/// Operations on the translation structures in host memory.
#pragma once

#include <string>

#include "script/op_reader.h"
#include "script/script_line.h"

namespace flitwise {

/// True, and line.op is set, if it is one of these.
bool read_table_op(const std::string& op, OpReader& in, ScriptLine& line);

}  // namespace flitwise
