// SPDX-License-Identifier: Apache-2.0
// Kinds of errors: what events tell of, and what machines count besides.
#include <algorithm>
#include <set>

#include "common/problems.h"
#include "cxl/flit_error.h"
#include "scenario/vocabulary.h"
#include "tlp/flit_tlp_front.h"
#include "tlp/tlp_check.h"

namespace flitwise::scenario {
namespace {

// What machines count besides: why a request was refused, and what no event tells of.
std::vector<std::string> other_counted_errors() {
  return words_of(
      "acs_violation address_type bus_master_disabled capability_missing "
      "completion_dropped_by_fault context_over foreign_handle foreign_requester "
      "handle_without_partition link_down link_lost master_abort memory_error not_an_interrupt "
      "not_granted outside_dma_window page_request_register_misused stray_doorbell "
      "stu_changed_while_enabled translation_fault translation_request_refused "
      "translation_request_without_ats unchecked_handle unknown_message unmapped_address "
      "untrusted_request");
}

template <class Error>
void add_names(int count, std::vector<std::string>& names) {
  for (int i = 0; i < count; ++i) {
    names.emplace_back(name_of(static_cast<Error>(i)));
  }
}

}  // namespace

const std::vector<std::string>& error_kinds() {
  static const std::vector<std::string> kKinds = [] {
    // What a machine, a frame or a line of a script may be found to have wrong, and flits.
    std::vector<std::string> kinds = words_of(
        "malformed_tlp unsupported_request completer_abort unexpected_completion "
        "completion_timeout unknown_domain bad_start bad_end bad_lcrc not_modelled bad_line "
        "no_progress poisoned_tlp ecrc_check_failed invalid_handle handle_while_disabled "
        "flush_failed handle_kept handle_unknown_to_host alloc_refused stale_alloc_ack "
        "stale_handle_error bad_handle_message stale_handle_order foreign_handle_order "
        "handle_order_tag_in_use translation_unsupported translation_aborted "
        "bad_translation_completion itag_in_use unexpected_prg_response unexpected_cxl_message "
        "cxl_address_outside_memory cxl_request_lost cxl_request_refused cxl_line_lost "
        "cxl_home_without_memory bad_crc unknown_type too_many_starts");
    add_names<CxlFlitError>(kCxlFlitErrors, kinds);
    add_names<FlitTlpError>(kFlitTlpErrors, kinds);
    add_names<TlpViolation>(kTlpViolations, kinds);
    std::sort(kinds.begin(), kinds.end());
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    return kinds;
  }();
  return kKinds;
}

bool is_error_kind(const std::string& kind) {
  return std::binary_search(error_kinds().begin(), error_kinds().end(), kind);
}

// A kind may go on with a point and a reason; some parts put their own name before theirs.
bool is_counted_error(const std::string& kind) {
  for (const char* const part : {"iommu_driver_", "warning_"}) {
    if (kind.rfind(part, 0) == 0) {
      return true;
    }
  }
  // Of scripts and codecs alone.
  static const std::set<std::string> kNeverCounted = {
      "bad_line", "no_progress", "not_modelled", "bad_start",      "bad_end",
      "bad_lcrc", "bad_crc",     "unknown_type", "too_many_starts"};
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
