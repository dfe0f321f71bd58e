// SPDX-License-Identifier: Apache-2.0
/// Says of a run that nothing came of what its devices sent.
#pragma once

#include <string>

#include "flitwise/result.h"

namespace flitwise {

/// A sentence where TLPs or messages were sent, no request was over with success and something was
/// refused; empty otherwise, and where devices are hostile: to be refused is what they are for.
std::string refusal_text(const RunResult& result);

}  // namespace flitwise
