// SPDX-License-Identifier: Apache-2.0
/// The operations of a script that need no machine: packets into frames, and frames into packets.
#pragma once

#include <cstdint>

#include "script/script_line.h"
#include "system/script_output.h"

namespace flitwise {

void write_frame(const FrameOp& op, std::uint32_t token, ScriptOutput& output);
/// What the frame holds, or an error that names what is wrong with it and at which byte.
void write_unframed(const UnframeOp& op, std::uint32_t token, ScriptOutput& output);

}  // namespace flitwise
