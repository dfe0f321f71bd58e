// SPDX-License-Identifier: Apache-2.0
/// The network side of a device: one end of a wire in each direction, for frames. The protocol is
/// that of a link towards a port (flitwise/link_socket.h): BEGIN_REQ tells the receiver of a frame
/// that starts on the wire, with the times at which it will be there; it answers TLM_UPDATED, holds
/// the frame in its receive buffer, and calls back with END_RESP and the same frame once there is
/// room for as much again.
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "flitwise/link_socket.h"
#include "network/frame.h"
#include "network/frame_faults.h"
#include "network/switch_view.h"
#include "trace/frame_capture.h"

namespace flitwise {

struct FrameTypes {
  using tlm_payload_type = Frame;
  using tlm_phase_type = tlm::tlm_phase;
};

class NicPort final : public sc_core::sc_module {
 public:
  /// Each may stay without a peer.
  tlm_utils::passthrough_target_socket_optional<NicPort, 32, FrameTypes> from_wire{"from_wire"};
  tlm_utils::simple_initiator_socket_optional<NicPort, 32, FrameTypes> to_wire{"to_wire"};

  /// propagation: of the wire to the peer, there and back.
  NicPort(const sc_core::sc_module_name& name, Time propagation)
      : sc_module(name), propagation_(propagation) {
    from_wire.register_nb_transport_fw(this, &NicPort::receive);
    to_wire.register_nb_transport_bw(this, &NicPort::take_room);
  }

  // ---- the sender's side. Before the simulation starts:
  /// From `when` on the peer has room again for as much as this frame took of its lane.
  void on_room(std::function<void(const Frame& frame, Time when)> action) {
    on_room_ = std::move(action);
  }
  /// The frame is on the wire, until `end`. REQUIRES: the peer has room for it.
  void send(Frame& frame, Time end) {
    frame.last = end + propagation_;
    wire_free_ = end;
    ++sent_;
    if (is_ecn_capable_) {
      set_ect(frame.bytes);
    }
    if (capture_ != nullptr) {
      capture_->leaves(captured_as_, frame, end, now());
    }
    if (faults_) {
      faults_->pass(frame, [this](Frame& one) { pass_on(one); });
    } else {
      pass_on(frame);
    }
  }
  std::uint64_t sent() const { return sent_; }  ///< frames
  Time wire_free_at() const { return wire_free_; }
  /// Something else that the port sends has the wire until then.
  void take_wire(Time end) { wire_free_ = end; }
  /// Frames that it sends may be marked in queues, rather than dropped. [CC-1]
  void set_ecn_capable() { is_ecn_capable_ = true; }
  /// What its wire does to what it sends. REQUIRES: peers wait for no room, as frames may be lost.
  void set_faults(FrameFaults faults) { faults_.emplace(std::move(faults)); }
  FrameFaults::Counts faults() const { return faults_ ? faults_->counts() : FrameFaults::Counts{}; }

  // ---- flow control [CC-6]
  /// Before the simulation starts: it may send again.
  void on_resume(std::function<void()> action) { on_resume_ = std::move(action); }
  /// The peer keeps it from sending, or lets it go on.
  void pause(bool is_paused) {
    is_paused_ = is_paused;
    if (!is_paused && on_resume_) {
      on_resume_();
    }
  }
  /// No frame may be begun.
  bool is_paused() const { return is_paused_; }

  // ---- the receiver's side. Before the simulation starts:
  /// A frame has started at the peer; it is here at frame.last, which may lie in the past by as
  /// much as a clock of the peer.
  void on_frame(std::function<void(Frame& frame)> action) { on_frame_ = std::move(action); }
  /// Its room in the receive buffer is free.
  void free(Frame& frame) {
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    from_wire->nb_transport_bw(frame, phase, delay);
  }

  /// Frames are captured from now on, under that number of the port.
  void watch(FrameCapture& capture, std::uint32_t port) {
    capture_ = &capture;
    captured_as_ = port;
  }

 private:
  void pass_on(Frame& frame) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    to_wire->nb_transport_fw(frame, phase, delay);
  }
  tlm::tlm_sync_enum receive(Frame& frame, tlm::tlm_phase& /*phase*/, sc_core::sc_time& /*delay*/) {
    if (capture_ != nullptr) {
      capture_->arrives(captured_as_, frame, now());
    }
    on_frame_(frame);
    return tlm::TLM_UPDATED;
  }
  tlm::tlm_sync_enum take_room(Frame& frame, tlm::tlm_phase& /*phase*/,
                               sc_core::sc_time& /*delay*/) {
    on_room_(frame, now() + propagation_);
    return tlm::TLM_COMPLETED;
  }

  const Time propagation_;
  std::function<void(Frame&)> on_frame_;
  std::function<void(const Frame&, Time)> on_room_;
  std::function<void()> on_resume_;
  std::uint64_t sent_ = 0;
  Time wire_free_{};
  bool is_paused_ = false, is_ecn_capable_ = false;
  std::optional<FrameFaults> faults_;
  FrameCapture* capture_ = nullptr;
  std::uint32_t captured_as_ = 0;
};

}  // namespace flitwise
