// SPDX-License-Identifier: Apache-2.0
/// Translations of a device in its stream of packets: which TLP goes out translated, which transfer
/// waits, and what the translation agent says, asked or not. The caches: AtsUnit.
// Longer than 150 lines: TLPs and lines of a cache by the same translations.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "endpoint/ats_unit.h"
#include "endpoint/line_seams.h"
#include "endpoint/static_requests.h"
#include "flitwise/config.h"
#include "tlp/identity.h"

namespace flitwise {

class TranslatedPath final : public Translations, public LineAddresses {
 public:
  /// pages: the Page Request Interface of the device; null: it has none.
  TranslatedPath(const EndpointConfig& config, const DeviceParts& parts,
                 PageRequestInterface* pages, TagTable& requests, Handles& handles)
      : config_(config),
        s_(parts),
        requests_(requests),
        handles_(handles),
        unit_(config.device, config.seed, pages),
        statics_(config_, s_, unit_, requests, handles) {}

  /// Told of each TLP with data that goes out by a translation of the device: whose it is, where it
  /// goes and the address that was translated.
  using Watch = std::function<void(const DeviceIdentity&, std::uint64_t, std::uint64_t)>;
  void watch(Watch watch) { watch_ = std::move(watch); }

  NextTransfer next(TransferCursor& cursor, Time now) override {
    if (unit_.parked.may_any_move() && resume(cursor, now)) {
      return NextTransfer::kSend;
    }
    return unit_.parked.ask_room(now) ? NextTransfer::kNew : NextTransfer::kFull;
  }
  void begun(const Transfer& transfer, std::uint32_t slot, Time now) override;
  Route route(const Transfer& transfer, const DeviceIdentity& identity,
              const TransferCursor& cursor, Time now) override;
  bool apply_route(Tlp& tlp, const DeviceIdentity& identity, const RequestPiece& piece) override;
  void read_opened(unsigned function, std::uint16_t tag, bool is_flush) override;
  void piece_gone(bool has_more) override;
  void transfer_gone(Time now) override {
    if (!ended_contexts_.empty()) {
      send_stop_markers(now);
    }
  }
  void drop(unsigned function, bool is_present, std::vector<std::uint32_t>& given_up) override;
  void read_ended(unsigned function, std::uint16_t tag, const Tlp& request, TransferStatus status,
                  Time now) override;
  void complete(unsigned function, const Packet& packet, const OutstandingRequest& request,
                Time now) override;
  void give_up(unsigned function, const OutstandingRequest& request, Time now) override;
  void end_context(DomainId domain, bool counts, Time now) override;

  // LineAddresses: line_addresses.cpp.
  Answer translate(const Transfer& transfer, std::uint64_t line, bool is_write, Time now) override;
  Use begin(bool asks_home) override;
  void end(const Use& use, Time now) override;
  void on_change(std::function<void(Time)> changed) override { lines_changed_.swap(changed); }
  /// A breach: is a line that goes to the home none that an Invalidate Completion waits for?
  void set_hook(std::function<bool()> answers_early) { answers_early_.swap(answers_early); }
  /// Something has changed that the line may wait for.
  void look_again(Time when) {
    if (lines_changed_ && line_waits_) {
      lines_changed_(when);
    }
  }

  /// A message for the function; false: it is none of the agent's, or one that the device has to
  /// refuse. behind_handle: whom its handle stands for, if it has one. [PRI-04]
  bool receive(const Packet& packet, unsigned function, const DeviceIdentity* behind_handle,
               Time now);
  /// The reset of the function is over: all of it is forgotten. [CFG-03] [CFG-04] [PRI-38]
  void forget(unsigned function);

  /// Software has set a function up anew. [CFG-01] [CFG-02] [CFG-07]
  void configure(unsigned function, const TranslationSettings& settings);

  /// For firmware that translates ahead of use.
  StaticRequests& statics() { return statics_; }
  /// What software sets, what is counted, and what waits.
  AtsUnit& unit() { return unit_; }
  const AtsUnit& unit() const { return unit_; }

 private:
  /// A process that has ended and whose Stop Marker is due. [PRI-06]
  struct EndedContext {
    DomainId domain{};
    std::uint64_t number = 0;  // contexts that have ended, with this one
    bool counts = true;
  };
  struct Begun {
    DomainId domain{};
    std::uint64_t contexts_ended = 0;  // when the engine gave it out
  };
  struct Present {
    const Transfer& transfer;
    const DeviceIdentity& identity;
    const TransferCursor& cursor;
  };

  bool resume(TransferCursor& cursor, Time now);
  AtsAccess access_of(const Present& present) const;
  Tlp shape_of(const Transfer& transfer) const;
  void park(const Present& present, ParkedState state, Slot awaited = 0, unsigned pages = 1);
  Route route_structure(const Present& present, Time now);
  Route go_or_park(const Present& present);
  void tell_firmware(unsigned function);
  AtsAccess line_access(const Transfer& transfer, std::uint64_t line, bool is_write) const;
  void ask_for_line(const Transfer& transfer, ParkedTransfer& line, const AtsRoute& route,
                    Time now);
  void give_up_line(unsigned function, Slot request, Time now);
  bool can_send_request(unsigned function, Time now);
  Step ask_for_translation(const Present& present, Time now);
  void ask_for_page(const Present& present, Time now);
  template <class Which>
  void fail_parked(Which which, const char* kind, TransferStatus status, Time now);
  void fail_waiting_for(unsigned function, Slot request, TransferStatus status, Time now);
  void invalidate(const Packet& packet, unsigned function, const DeviceIdentity* behind_handle,
                  Time now);
  void take_prg_response(const Packet& packet, Time now);
  void send_invalidate_completions(unsigned function, Time now);
  void send_message(const Tlp& tlp, Bdf function, bool counts, Time now);
  bool may_still_ask(const EndedContext& context);
  bool waits_for_stop_marker(std::uint32_t transfer) const;
  void send_stop_markers(Time now);

  const EndpointConfig config_;
  const DeviceParts s_;
  TagTable& requests_;
  Handles& handles_;
  AtsUnit unit_;
  StaticRequests statics_;
  std::optional<StructureBytes> static_;  // what the present TLP touches of a structure
  std::uint32_t static_token_ = 0;        // of its transfer
  AtsRoute route_;                        // of the present TLP
  AtsAccess routed_;                      // what it touches
  bool is_routed_ = false;                // its look-up is in the statistics
  std::optional<std::uint32_t> present_;  // the transfer whose TLPs go out now
  std::optional<Slot> current_slot_;      // it has been parked, and keeps its place
  std::vector<Begun> begun_;              // by transfer
  bool invalidation_counts_ = true;       // those under way belong to the measured part
  std::uint64_t contexts_ended_ = 0;
  std::vector<EndedContext> ended_contexts_;  // whose Stop Marker is due, in order
  Watch watch_;
  AtsAccess line_;  // whose address is known
  std::uint64_t line_address_ = 0;
  DomainId line_domain_{};
  bool is_line_counted_ = false, line_waits_ = false, is_line_translated_ = false;
  std::function<void(Time)> lines_changed_;  // may be empty
  std::function<bool()> answers_early_;      // likewise
};

}  // namespace flitwise
