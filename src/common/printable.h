// SPDX-License-Identifier: Apache-2.0
/// Texts of users on their way to a terminal.
#pragma once

#include <cstddef>
#include <string>

namespace flitwise {

/// Bytes of the character that starts here, 0 where none does: RFC 3629, without surrogates and
/// without longer forms than needed. REQUIRES: left > 0.
std::size_t utf8_length(const char* at, std::size_t left);

/// Control characters and bytes that are no UTF-8 as escapes: \t, \x1b, \u009b. With keeps_lines
/// line ends stay.
std::string printable(const std::string& text, bool keeps_lines = false);

/// The text, or where it is longer than `most` bytes its first and last part with the number of
/// bytes between them.
std::string shortened(const std::string& text, std::size_t most = 120);

}  // namespace flitwise
