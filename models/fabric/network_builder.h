// SPDX-License-Identifier: Apache-2.0
/// Makes the network of a configuration of mode packet, which is a machine of one component.
#pragma once

#include <memory>

#include "common/component.h"
#include "flitwise/config.h"

namespace flitwise {

std::unique_ptr<Component> build_packet_network(const Config& config);

}  // namespace flitwise
