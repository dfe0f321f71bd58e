// SPDX-License-Identifier: Apache-2.0
// Events, their fields and kinds of errors. Fields of packets come from the packet codec itself.
#include "scenario/event_words.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "codec/cxl_flit_json.h"
#include "codec/packet_json.h"
#include "common/problems.h"
#include "cxl/flit_codec.h"
#include "cxl/flit_frame.h"
#include "flitwise/flit.h"
#include "rdma/qp_context.h"
#include "srdma/receive_checks.h"
#include "tlp/flit_tlp_codec.h"
#include "tlp/message_fields.h"
#include "tlp/tlp_check.h"

namespace flitwise::scenario {
namespace {

void add_keys(const nlohmann::ordered_json& object, std::vector<std::string>& names) {
  for (const auto& item : object.items()) {
    names.push_back(item.key());
  }
}

// A TLP of each type with everything set that prints a key of its own.
Tlp full(TlpType type) {
  Tlp tlp;
  tlp.type = type;
  tlp.length_dw = 1;
  tlp.has_pasid = is_memory_request(type);
  tlp.has_ecrc = true;
  tlp.has_processing_hint = is_memory_request(type);
  tlp.other_prefix_count = 1;
  return tlp;
}

void sort_once(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

// Of an enumeration.
template <class Word>
void add_names(int count, std::vector<std::string>& names) {
  for (int i = 0; i < count; ++i) {
    names.emplace_back(name_of(static_cast<Word>(i)));
  }
}

std::vector<std::string> tlp_fields() {
  std::vector<std::string> names = {"no_write", "prefixes_before_pasid"};
  for (int i = 0; i < kTlpTypes; ++i) {
    add_keys(json_of(TlpDocument{full(static_cast<TlpType>(i)), {0, 0, 0, 0}, {}}), names);
  }
  for (const MessageField& field : message_fields()) {
    names.emplace_back(field.key);
  }
  return names;
}

std::vector<std::string> dllp_fields() {
  std::vector<std::string> names = {"shared"};
  for (int i = 0; i < kDllpTypesInFlits; ++i) {
    Dllp dllp;
    dllp.type = static_cast<DllpType>(i);
    add_keys(json_of(dllp), names);
  }
  return names;
}

std::vector<std::string> wire_fields() {
  std::vector<std::string> names = {"at_ns",  "link",      "direction", "unit", "seq",
                                    "replay", "malformed", "damaged",   "lost", "payload"};
  for (const auto& fields : {tlp_fields(), dllp_fields()}) {
    names.insert(names.end(), fields.begin(), fields.end());
  }
  names.insert(names.end(), {"opcode", "id", "address", "rsp_data", "bogus", "identity", "snp_type",
                             "meta_field", "meta_value"});  // of CXL messages
  return names;
}

// Of a TLP in its bytes or in those of a flit, where there may be a part of it.
std::vector<std::string> tlp_event_fields() {
  std::vector<std::string> names = tlp_fields();
  names.insert(names.end(),
               {"hex", "ohc_a", "reserved", "nops", "bytes", "began_before", "ends_beyond"});
  return names;
}

// Of a flit of CXL.cache and CXL.mem beside its bytes: what it may say in each form, fields of
// control flits included.
std::vector<std::string> cxl_flit_fields() {
  std::vector<std::string> names = {"flit",   "direction", "identity_bits", "all_data", "ak", "be",
                                    "header", "control",   "crc",           "fec",      "hex"};
  for (const CxlControlInfo& control : kCxlControlFlits) {
    for (const CxlControlField& field : control.fields) {
      names.emplace_back(field.name);
    }
  }
  for (const CxlProtocol protocol : {CxlProtocol::kCache, CxlProtocol::kMem}) {
    for (std::size_t credit = 0; credit < kCxlCredits; ++credit) {
      names.push_back(cxl_credit_key(protocol, credit));
    }
  }
  return names;
}

std::vector<std::string> cxl_message_fields() {
  std::vector<std::string> names = {"slot", "place"};
  for (const CxlFlitForm form : {CxlFlitForm::k68, CxlFlitForm::k256}) {
    for (std::size_t c = 0; c < kCxlChannels; ++c) {
      CxlWireMessage wire;
      wire.message.channel = static_cast<CxlChannel>(c);
      add_keys(json_of(wire, CxlWidths(form, 1)), names);
    }
  }
  return names;
}

std::vector<std::string> rdma_pair_fields() {
  std::vector<std::string> names = {"end",      "state", "waiting", "unacknowledged", "rnr_wait",
                                    "expected", "msn",   "buffers", "held",           "deepest"};
  add_names<QpCounter>(kQpCounters, names);
  return names;
}

std::vector<std::string> srdma_count_fields() {
  std::vector<std::string> names = words_of(
      "end rx_cm_auth rx_cm_replay rx_cm_malformed cm_sent cm_resent cm_repeated cm_stray "
      "cm_refused cm_failed no_port refreshes replacements ports");
  add_names<ReceiveCounter>(kReceiveCounters, names);
  return names;
}

std::vector<std::string> cxl_channels() {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < kCxlChannels; ++c) {
    names.emplace_back(info_of(static_cast<CxlChannel>(c)).name);
  }
  return names;
}

struct EventKind {
  std::string name;
  std::vector<std::string> fields;
};

// Every event with all its fields but `event` and `t_ns`, which all have.
const std::vector<EventKind>& event_kinds() {
  static const std::vector<EventKind> kKinds = {
      {"wire", wire_fields()},
      {"committed", {"addr", "hex", "at", "rid", "context"}},
      {"error", {"kind", "detail", "at", "rid", "context", "line"}},
      {"message", {"name", "at", "rid", "context"}},
      {"interrupt", {"addr", "hex", "at", "rid"}},
      {"completion", {"tag", "status", "ep", "hex"}},
      {"data", {"hex", "value"}},
      {"memory", {"addr", "hex"}},
      {"handle", {"end", "dhi", "valid", "bdf", "pasid", "context"}},
      {"result", {"path", "value"}},
      {"check", {"name", "detail"}},
      {"violation", {"rule", "type", "at", "rid", "packet", "other"}},
      {"deadlock", {"detail"}},
      {"frame", {"unit", "seq", "nullified", "hex"}},
      {"flit", {"seq", "command", "usage", "prior_was_payload", "not_a_dllp", "mended", "hex"}},
      {"tlp", tlp_event_fields()},
      {"dllp", dllp_fields()},
      {"cxl_flit", cxl_flit_fields()},
      {"cxl_slot", {"slot", "format", "messages", "data", "byte_enables"}},
      {"cxl_message", cxl_message_fields()},
      {"roce", {"eth",     "vlan",    "ip",        "udp",          "bth",     "reth", "aeth",
                "immdt",   "ieth",    "atomiceth", "atomicacketh", "deth",    "feth", "cnp",
                "payload", "padding", "icrc",      "icrc_ok",      "trailer", "hex"}},
      {"missed_fault", {"link", "struck", "detail", "line"}},
      {"missed_event", {"detail", "line"}},
      {"fault", {"code", "rid", "pasid", "addr"}},
      {"fault_record",
       {"index", "taken", "code", "rid", "pasid", "addr", "type", "privileged", "execute"}},
      {"mapped",
       {"root_table", "root_entry", "context_entry", "pasid_directory_entry", "pasid_entry",
        "first_stage", "second_stage"}},
      {"permitted", {"pointer", "words"}},
      {"warning", {"rule", "type", "at", "rid"}},
      {"pio_wire", {"vl", "source", "block", "bytes"}},
      {"pio_cleared", {"vl", "source", "block", "hex"}},
      {"credit_return",
       {"addr", "ctx", "qw0", "qw1", "qw2", "qw3", "qw4", "qw5", "qw6", "qw7", "irq"}},
      {"pio_context",
       {"ctx", "enabled", "halted", "errors", "free", "returned", "pending", "packet_blocks",
        "next_slot"}},
      {"pio_counts",
       {"launched", "bad_context_writes", "mixed_address_returns", "unaddressed_returns",
        "sdma_errors"}},
      {"pio_block", {"block", "qws", "hex"}},
      {"pio_stall", {"thread", "addr"}},
      {"pio_wait", {"ctx", "blocks", "available", "needs_force"}},
      {"pio_core",
       {"core", "stores", "whole_writes", "partial_writes", "held_bytes", "waiting", "fenced",
        "fences", "stalls"}},
      {"network_ready", {"hosts", "switches", "edges", "cycle"}},
      {"network_packet", {"outcome", "way", "ttl", "ce", "checksum"}},
      {"network_spread", {"packets", "delivered", "ways", "least", "most"}},
      {"network_sessions", {"sessions", "rounds", "ways"}},
      {"network_port", {"port", "packets", "bytes", "full", "red", "ce", "queued", "up"}},
      {"network_counts",
       {"delivered", "ttl", "no_route", "link_down", "full", "red", "ecmp", "adaptive"}},
      {"rdma_packet",
       {"end", "opcode", "psn", "bytes", "pad", "ack_req", "va", "rkey", "length", "imm",
        "syndrome", "msn", "original", "session", "echo_session", "echo_psn", "hold_ns", "ce",
        "sack"}},
      {"rdma_loss", {"end", "psn", "cause", "session"}},
      {"rdma_rate", {"end", "session", "mbps", "target_mbps", "alpha"}},
      {"rdma_completion", {"end", "wr", "status", "op", "bytes", "imm", "invalidated"}},
      {"rdma_pair", rdma_pair_fields()},
      {"rdma_key", {"end", "key"}},
      {"rdma_memory", {"end", "addr", "hex"}},
      {"rdma_event", {"end", "kind"}},
      {"hca_command", {"command", "outcome", "entry", "psn", "old_function", "old_qpn"}},
      {"hca_entry", {"function", "qpn", "state", "entry", "pins", "psn", "memory_psn"}},
      {"hca_request", {"request", "function", "addr", "structures"}},
      {"hca_access", {"function", "structure", "verdict", "at", "addr"}},
      {"hca_invalidation", {"function", "itag", "structures"}},
      {"hca_invalidated", {"function", "itag"}},
      {"hca_structure",
       {"function", "structure", "addr", "bytes", "pretranslated", "valid", "allow", "record",
        "uses"}},
      {"hca_counts",
       {"hits", "fetches", "waits", "stalls", "write_backs", "translated", "untranslated",
        "access_waits", "access_faults", "requests", "failures", "discarded", "invalidations_hit",
        "invalidations_missed"}},
      {"rcm_choice", {"psn", "resends", "session", "version"}},
      {"rcm_answer", {"cause", "session"}},
      {"rcm_share", {"session", "packets", "share"}},
      {"rcm_moved", {"from", "to", "packets"}},
      {"rcm_map", {"packets", "moved"}},
      {"rcm_probe", {"session", "psn"}},
      {"rcm_decision", {"action", "cause", "session"}},
      {"rcm_session",
       {"session", "level", "weight", "eligible", "alive", "timed_out", "usable", "in_flight"}},
      {"rcm_stats",
       {"session", "sent", "delivered", "delivered_bytes", "losses", "echoes", "ce_echoes",
        "probes", "rtt_samples", "rtt_ns", "base_ns", "most_wait_ns"}},
      {"rcm_group",
       {"usable", "version", "cost", "pending", "failed_adds", "add_refused_max",
        "add_refused_wait", "remove_refused_min", "remove_refused_wait"}},
      {"srdma_message", {"end", "kind", "sg", "reason", "sessions", "qps", "lost"}},
      {"srdma_event",
       {"end", "kind", "group", "session", "reason", "qpn", "peer_qpn", "psn", "ns"}},
      {"srdma_frame", {"end", "outcome", "group", "session", "qpn", "bytes"}},
      {"srdma_group", {"end", "group", "sg", "state", "eligible", "sessions", "qps"}},
      {"srdma_session",
       {"end", "group", "session", "state", "eligible", "in_flight", "src_port", "dst_port",
        "epoch"}},
      {"srdma_guesses", {"end", "unknown", "hits"}},
      {"srdma_counts", srdma_count_fields()},
      {"sdma_read", {"engine", "addr", "bytes"}},
      {"sdma_head", {"engine", "addr", "head", "interrupt"}},
      {"sdma_engine",
       {"engine", "running", "errors", "head", "waiting", "reads", "used_blocks",
        "waits_for_room"}}};
  return kKinds;
}

// Of flits, CXL messages, TLPs and DLLPs on a wire, and of what breaks a rule.
std::vector<std::string> packet_types() {
  std::vector<std::string> types = {"Flit", "NOP_Flit"};
  for (int i = 1; i < kCxlControls; ++i) {
    types.emplace_back(name_of(static_cast<CxlFlitHeader::Control>(i)));
  }
  const std::vector<std::string> channels = cxl_channels();
  types.insert(types.end(), channels.begin(), channels.end());
  add_names<TlpType>(kTlpTypes, types);
  for (int i = 0; i < kDllpTypesInFlits * kFcClasses; ++i) {
    Dllp dllp;
    dllp.type = static_cast<DllpType>(i / kFcClasses);
    dllp.fc_class = static_cast<FcClass>(i % kFcClasses);
    types.push_back(json_of(dllp)["type"].get<std::string>());
  }
  return types;
}

// What machines count besides: why a request was refused, and what no event tells of.
std::vector<std::string> other_counted_errors() {
  return words_of(
      "acs_violation address_type bad_context_write bad_register_access bus_master_disabled "
      "capability_missing "
      "completion_dropped_by_fault context_over cxl_address_outside_memory disallowed_packet "
      "cxl_home_without_memory cxl_line_lost cxl_request_lost cxl_request_refused "
      "cxl_request_unnamed device_gone "
      "foreign_handle "
      "foreign_requester "
      "handle_without_partition inconsistent_sop initialised_under_traffic line_for_io_alone "
      "line_refused line_untranslated link_down link_lost "
      "master_abort memory_error "
      "not_an_interrupt "
      "not_granted outside_dma_window page_refused page_request_register_misused "
      "redirected_completion "
      "redirected_request "
      "stray_doorbell "
      "stu_changed_while_enabled translation_failed translation_fault translation_request_refused "
      "translation_request_without_ats unchecked_handle unexpected_cxl_message unknown_message "
      "unmapped_address "
      "untrusted_request window_read write_crosses_boundary write_out_of_bounds write_overflow "
      // RDMA adapters, and software that posts on them
      "bad_doorbell bad_command command_timeout bad_ring_entry failed_dma not_roce payload_ram "
      "frame_damaged frame_delayed frame_forged frame_lost frame_repeated "
      "network_bad_header network_early_drop network_link_down network_lost network_no_route "
      "network_queue_full "
      "network_ttl "
      "function_down function_not_set_up function_reset queue_pair_in_error "
      "rx_bad_icrc rx_bad_version rx_bad_transport rx_bad_opcode rx_qp_mismatch rx_bad_p_key "
      "rx_bad_state rx_function_down rx_out_of_service rx_out_of_order rx_duplicate rx_forgotten "
      "rx_bogus_ack rx_stale_ack rx_bad_address rx_bad_ip_checksum rx_bad_syndrome "
      "sequence_naks rnr_naks error_naks timeouts resent lost_answers "
      // and their session groups
      "rx_bad_ip rx_bad_udp_length rx_unknown_tuple rx_session_state rx_bad_key rx_auth rx_replay "
      "rx_held rx_ooo_overflow rx_cnp cnps rx_cm_auth rx_cm_replay rx_cm_malformed cm_resent "
      "cm_failed cm_no_port "
      "LOC_LEN_ERR LOC_PROT_ERR WR_FLUSH_ERR BAD_RESP_ERR REM_INV_REQ_ERR REM_ACCESS_ERR "
      "REM_OP_ERR RETRY_EXC_ERR RNR_RETRY_EXC_ERR");
}

}  // namespace

const std::vector<std::string>* field_words(const std::string& field, const std::string& event) {
  static const std::map<std::string, std::vector<std::string>> kWords = [] {
    std::map<std::string, std::vector<std::string>> words = {
        {"event", event_names()},
        {"type", packet_types()},
        {"direction", {"up", "down"}},
        {"channel", cxl_channels()},
        {"unit", {"tlp", "dllp", "flit", "cxl"}},
        {"end", {"host", "device"}},
        {"status", {"SC", "UR", "RRS", "CA"}},
        {"kind", error_kinds()}};
    for (const std::string& flag : words_of(
             "replay shared bogus malformed damaged lost nullified all_data ak be nt poison "
             "go_err chunk_valid has_byte_enables valid ido ro ns th td ep no_write id_is_handle "
             "bcm privileged_mode_requested execute_requested prior_was_payload ohc_a "
             "began_before ends_beyond enabled halted needs_force pretranslated allow")) {
      words[flag] = {"true", "false"};
    }
    return words;
  }();
  // On a wire a status is a number of the packet; the type of a fault is none of a packet,
  // and ends of RDMA are numbers.
  const bool is_free =
      (field == "status" && event != "completion") || (field == "kind" && event != "error") ||
      (field == "type" && event == "fault_record") ||
      (field == "end" && (event.rfind("rdma_", 0) == 0 || event.rfind("srdma_", 0) == 0));
  const auto found = kWords.find(field);
  return is_free || found == kWords.end() ? nullptr : &found->second;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

const std::vector<std::string>& event_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const EventKind& kind : event_kinds()) {
      names.push_back(kind.name);
    }
    return names;
  }();
  return kNames;
}

const std::vector<std::string>& event_fields(const std::string& event) {
  static const std::map<std::string, std::vector<std::string>> kFields = [] {
    std::map<std::string, std::vector<std::string>> fields;
    for (const EventKind& kind : event_kinds()) {
      for (const std::string& name : {std::string(), kind.name}) {
        std::vector<std::string>& own = fields[name];
        own.insert(own.end(), {"event", "t_ns"});
        own.insert(own.end(), kind.fields.begin(), kind.fields.end());
        sort_once(own);
      }
    }
    return fields;
  }();
  const auto found = kFields.find(event);
  return found == kFields.end() ? kFields.at("") : found->second;
}

const std::vector<std::string>& error_kinds() {
  static const std::vector<std::string> kKinds = [] {
    // What a machine, a frame or a line of a script may be found to have wrong, and flits.
    std::vector<std::string> kinds = words_of(
        "malformed_tlp unsupported_request completer_abort unexpected_completion "
        "completion_timeout unknown_domain bad_start bad_end bad_lcrc bad_line "
        "no_progress poisoned_tlp ecrc_check_failed invalid_handle handle_while_disabled "
        "flush_failed handle_kept handle_unknown_to_host alloc_refused stale_alloc_ack "
        "stale_handle_error bad_handle_message stale_handle_order foreign_handle_order "
        "foreign_handle_answer handle_order_tag_in_use "
        "translation_unsupported translation_aborted "
        "bad_translation_completion itag_in_use unexpected_prg_response "
        "network_refused srdma_refused rcm_refused rcm_aborted bad_crc unknown_type "
        "too_many_starts pio_setup_refused "
        "pio_store_refused "
        "rdma_refused "
        "hca_refused");
    add_names<CxlFlitError>(kCxlFlitErrors, kinds);
    add_names<FlitTlpError>(kFlitTlpErrors, kinds);
    add_names<TlpViolation>(kTlpViolations, kinds);
    sort_once(kinds);
    return kinds;
  }();
  return kKinds;
}

bool is_error_kind(const std::string& kind) {
  return std::binary_search(error_kinds().begin(), error_kinds().end(), kind);
}

// A kind may go on with a point and a reason; some parts put their own name before theirs.
bool is_counted_error(const std::string& kind) {
  if (kind.rfind("iommu_driver_", 0) == 0 || kind.rfind("warning_", 0) == 0) {
    return true;
  }
  // Of scripts and codecs alone.
  static const std::set<std::string> kNeverCounted = {
      "srdma_refused",     "rcm_refused",       "rcm_aborted",  "network_refused",
      "bad_line",          "no_progress",       "bad_start",    "bad_end",
      "bad_lcrc",          "bad_crc",           "unknown_type", "too_many_starts",
      "pio_setup_refused", "pio_store_refused", "rdma_refused", "hca_refused"};
  const std::size_t point = kind.find('.');
  const std::string word = kind.substr(0, point);
  const bool has_detail = point != std::string::npos;
  if (kNeverCounted.count(word) != 0 ||
      (has_detail && word == "malformed_tlp" && !is_error_kind(kind.substr(point + 1)))) {
    return false;
  }
  if (has_detail && word != "malformed_tlp" && word != "unsupported_request" &&
      word != "unexpected_completion") {
    return false;
  }
  static const std::vector<std::string> others = other_counted_errors();
  return is_error_kind(word) || std::find(others.begin(), others.end(), word) != others.end();
}

std::string hint_of_counted_error(const std::string& kind) {
  std::vector<std::string> all = error_kinds();
  const std::vector<std::string> others = other_counted_errors();
  all.insert(all.end(), others.begin(), others.end());
  return config::nearest_hint(kind, all, "kind");
}

}  // namespace flitwise::scenario
