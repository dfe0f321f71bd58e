// SPDX-License-Identifier: Apache-2.0
// Operations of a script that need no machine: functions of bytes alone.
#include "config/problems.h"
#include "flitwise/error.h"
#include "system/framing_script.h"
#include "system/script_session.h"

namespace flitwise {

// What a flit may hold depends on those before it, so that some complaints come this late.
template <class Codec, class Op>
void ScriptSession::encode(Codec& codec, const Op& op) {
  try {
    codec.encode(op, token_);
  } catch (const ConfigError& error) {
    bad_value(config::summary_of(error));
  }
}

void ScriptSession::run(const FrameOp& op) {
  write_frame(op, token_, output_);
}

void ScriptSession::run(const UnframeOp& op) {
  write_unframed(op, token_, output_);
}

void ScriptSession::run(const EncodeTlpOp& op) {
  codecs_.encode(op, token_);
}

void ScriptSession::run(const DecodeTlpOp& op) {
  codecs_.decode(op, token_);
}

void ScriptSession::run(const EncodeFlitOp& op) {
  encode(codecs_, op);
}

void ScriptSession::run(const DecodeFlitOp& op) {
  codecs_.decode(op, token_);
}

void ScriptSession::run(const EncodeCxlOp& op) {
  encode(cxl_flits_, op);
}

void ScriptSession::run(const DecodeCxlOp& op) {
  cxl_flits_.decode(op, token_);
}

}  // namespace flitwise
