// SPDX-License-Identifier: Apache-2.0
/// The operations that reach into the models: faults on a wire, handles, figures of the run.
#pragma once

#include <string>

#include "script/op_reader.h"
#include "script/script_line.h"

namespace flitwise {

/// False where `op` is none of them.
bool read_model_op(const std::string& op, OpReader& in, ScriptLine& line);

}  // namespace flitwise
