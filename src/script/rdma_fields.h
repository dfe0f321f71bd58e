// SPDX-License-Identifier: Apache-2.0
/// Objects in lines of RDMA: the setup of two ends, work requests, receive buffers, packets.
#pragma once

#include <array>
#include <cstdint>

#include "codec/json_reader.h"
#include "rdma/rdma_end.h"
#include "script/rdma_line.h"

namespace flitwise {

/// A key has one value, or a list of one for each end where both need not agree; what each end
/// knows of its peer follows. Into line: setup, connects, sessions.
void read_rdma_setup(JsonReader& in, RdmaLine& line);
void read_rdma_send(JsonReader& in, SendWork& work);
void read_rdma_receive(JsonReader& in, ReceiveWork& work);
/// Whatever a peer might send. names_pair: it says which queue pair it is for.
void read_rdma_packet(JsonReader& in, RdmaWirePacket& packet, bool& names_pair);
/// "LW RR RW RA", or fewer of them.
Complaint read_rdma_rights(const Json& value, std::uint8_t& rights);

}  // namespace flitwise
