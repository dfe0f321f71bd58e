// SPDX-License-Identifier: Apache-2.0
/// The words of the event language, so that a misspelt one is refused instead of never matching.
#pragma once

#include <string>
#include <vector>

namespace flitwise::scenario {

/// The words of a text, which blanks keep apart.
std::vector<std::string> words_of(const std::string& text);
/// "wire", "committed", ...
const std::vector<std::string>& event_names();
/// Every field that an event of this name may have, those of all packets included, in alphabetical
/// order; of another name: that some event may have.
const std::vector<std::string>& event_fields(const std::string& event = "");
/// Every kind of an `error`.
const std::vector<std::string>& error_kinds();
bool is_error_kind(const std::string& kind);
/// What `errors` of result.json may count: kinds of errors, and what no event tells of.
bool is_counted_error(const std::string& kind);
/// "; nearest kind 'malformed_tlp'", or nothing where none is spelt alike.
std::string hint_of_counted_error(const std::string& kind);
/// All words that a field can have in events of this name (empty: of any), or null where it may
/// have any value.
const std::vector<std::string>* field_words(const std::string& field, const std::string& event);

}  // namespace flitwise::scenario
