// SPDX-License-Identifier: Apache-2.0
/// The way of requests through the machine, for the explanation of what limited them.
#pragma once

#include <vector>

#include "flitwise/result.h"

namespace flitwise {

class Fabric;

/// A route for each kind of request of each engine of each device, with what the engine has issued
/// in the window.
std::vector<RequestRoute> request_routes(const Fabric& fabric);

}  // namespace flitwise
