// SPDX-License-Identifier: Apache-2.0
/// Reads the fields of each operation; complaints stay with the reader. What writes as well as
/// reads knows already which it is.
#pragma once

#include "script/op_reader.h"
#include "script/script_line.h"

namespace flitwise {

void read_op(OpReader& in, PokeOp& op);
void read_op(OpReader& in, PeekOp& op);
void read_op(OpReader& in, TlpOp& op);
void read_op(OpReader& in, DmaOp& op);
void read_op(OpReader& in, RunOp& op);
void read_op(OpReader& in, MmioOp& op);
void read_op(OpReader& in, CfgOp& op);
void read_op(OpReader& in, FaultOp& op);
void read_op(OpReader& in, DllpOp& op);
void read_op(OpReader& in, DhiOp& op);
void read_op(OpReader& in, CxlOp& op);
void read_op(OpReader& in, HandleOp& op);
void read_op(OpReader& in, ResultOp& op);
void read_op(OpReader& in, ResetOp& op);
void read_op(OpReader& in, IommuOp& op);
void read_op(OpReader& in, MapOp& op);
void read_op(OpReader& in, PermitOp& op);
void read_op(OpReader& in, PokeEntryOp& op);
void read_op(OpReader& in, FrameOp& op);
void read_op(OpReader& in, UnframeOp& op);
void read_op(OpReader& in, EncodeTlpOp& op);
void read_op(OpReader& in, DecodeTlpOp& op);
void read_op(OpReader& in, EncodeFlitOp& op);
void read_op(OpReader& in, DecodeFlitOp& op);
void read_op(OpReader& in, EncodeCxlOp& op);
void read_op(OpReader& in, DecodeCxlOp& op);

}  // namespace flitwise
