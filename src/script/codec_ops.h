// SPDX-License-Identifier: Apache-2.0
/// The operations on TLPs and on flits of flit mode: functions of bytes alone.
#pragma once

#include <string>

#include "script/op_reader.h"
#include "script/script_line.h"

namespace flitwise {

/// False where `op` is none of them.
bool read_codec_op(const std::string& op, OpReader& in, ScriptLine& line);

}  // namespace flitwise
