// SPDX-License-Identifier: Apache-2.0
// A formula as a SELECT of SQLite, in which each number and column is a parameter.
#include "results/expression.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "common/printable.h"
#include "common/problems.h"

namespace flitwise {
namespace {

constexpr const char* kFunctions[] = {"min", "max", "first", "ceil", "floor", "abs", "baseline"};
constexpr const char* kGrammar =
    "expected numbers, columns (those with other signs in double quotes: \"rp0-ep0_up_tlps\"), + - "
    "* / ( ), or min, max, first, ceil, floor, abs or baseline of "
    "values";

void first(sqlite3_context* context, int count, sqlite3_value** values) {
  for (int i = 0; i < count; ++i) {
    if (sqlite3_value_type(values[i]) != SQLITE_NULL) {
      sqlite3_result_value(context, values[i]);
      if (sqlite3_value_double(values[i]) != 0) {
        return;
      }
    }
  }
}

/// The connection of this thread that formulas are evaluated in; it holds no tables.
sqlite3* calculator() {
  thread_local const std::unique_ptr<sqlite3, int (*)(sqlite3*)> kConnection(
      [] {
        sqlite3* connection = nullptr;
        sqlite3_open(":memory:", &connection);
        constexpr int kMostArguments = 32;
        for (int values = 1; values <= kMostArguments; ++values) {
          sqlite3_create_function(connection, "first", values, SQLITE_UTF8, nullptr, first, nullptr,
                                  nullptr);
        }
        return connection;
      }(),
      sqlite3_close_v2);
  return kConnection.get();
}

std::string mistake(const std::string& formula, std::size_t at, const std::string& what) {
  const std::string seen = at < formula.size() ? fmt::format("'{}'", formula[at]) : "the end";
  return fmt::format("'{}': {} at character {}: {}; {}", shortened(formula), seen, at + 1, what,
                     kGrammar);
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// Writes SQL with two characters for each one of the formula, so that places in both agree and no
/// `--` or `/*` begins a comment.
class SqlText {
 public:
  SqlText(const std::string& formula, std::vector<Expression::Operand>& operands)
      : formula_(formula), operands_(operands) {}

  static constexpr const char* kFront = "SELECT ";

  /// Of the formula whose SQL was asked for: see Expression::is_whole.
  bool is_whole() const { return is_whole_; }
  /// Of the same formula.
  const std::vector<std::size_t>& baseline_words() const { return baseline_words_; }
  /// Empty where the formula has what no formula may have: see problem.
  std::string sql(std::string& problem) {
    for (std::size_t at = 0; at < formula_.size() && problem.empty();) {
      const std::size_t begin = at;
      std::string text;
      if (formula_[at] == '"') {
        at = std::min(formula_.find('"', at + 1), formula_.size() - 1) + 1;
        text = quoted(begin, at, problem);
      } else {
        while (at < formula_.size() && (is_word(formula_[at]) || is_sign_of_exponent(begin, at))) {
          ++at;
        }
        text = at > begin ? word(begin, at, problem) : sign(at++, problem);
      }
      text.resize(2 * (at - begin), ' ');
      sql_ += text;
    }
    return problem.empty() ? sql_ : "";
  }

 private:
  bool is_digit(std::size_t at) const {
    return at < formula_.size() && std::isdigit(static_cast<unsigned char>(formula_[at])) != 0;
  }
  bool is_number(std::size_t at) const {
    return is_digit(at) || (formula_[at] == '.' && is_digit(at + 1));
  }
  /// The sign in 1e-5.
  bool is_sign_of_exponent(std::size_t begin, std::size_t at) const {
    return (formula_[at] == '-' || formula_[at] == '+') && at > begin && is_number(begin) &&
           is_digit(at + 1) && (formula_[at - 1] == 'e' || formula_[at - 1] == 'E') &&
           formula_.find_first_not_of("0123456789.", begin) == at - 1;
  }

  std::string sign(std::size_t at, std::string& problem) {
    const char c = formula_[at];
    if (c == '(') {
      baselines_.push_back(is_of_baseline());
    } else if (c == ')' && !baselines_.empty()) {
      baselines_.pop_back();
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      return " ";
    } else if (std::string("+-*/,)").find(c) == std::string::npos) {
      problem = mistake(formula_, at, "no sign of a formula");
    }
    is_whole_ = is_whole_ && c != '/';
    is_baseline_next_ = false;
    return std::string(1, c);
  }

  // A column by its whole name, quotes included in the range.
  std::string quoted(std::size_t begin, std::size_t end, std::string& problem) {
    if (end - begin < 3 || formula_[end - 1] != '"') {
      problem = mistake(formula_, begin, "no name in double quotes");
    } else {
      operands_.push_back(
          {formula_.substr(begin + 1, end - begin - 2), is_of_baseline(), 0, 0, begin + 1});
    }
    return "?";
  }

  std::string word(std::size_t begin, std::size_t end, std::string& problem) {
    const std::string text = formula_.substr(begin, end - begin);
    const std::size_t next = formula_.find_first_not_of(" \t\n", end);
    if (is_number(begin)) {
      char* rest = nullptr;
      operands_.push_back({"", false, std::strtod(text.c_str(), &rest), 0, begin});
      note_whole(text, operands_.back());
      if (*rest != '\0') {
        problem = mistake(formula_, begin, "no decimal number");
      }
      return "?";
    }
    if (next == std::string::npos || formula_[next] != '(') {
      operands_.push_back({text, is_of_baseline(), 0, 0, begin});
      return "?";
    }
    if (std::find(std::begin(kFunctions), std::end(kFunctions), text) == std::end(kFunctions)) {
      problem = mistake(formula_, begin,
                        "no function " + text +
                            config::nearest_hint(
                                text, {std::begin(kFunctions), std::end(kFunctions)}, "function"));
    }
    is_baseline_next_ = text == "baseline";
    if (is_baseline_next_) {
      baseline_words_.push_back(begin);
    }
    return is_baseline_next_ ? "" : text;
  }

  // `12` as it stands, 1e3 as it is rounded.
  void note_whole(const std::string& text, Expression::Operand& operand) {
    constexpr double kMost = 9e18;  // below the range of 64 bits
    const auto [end, failure] =
        std::from_chars(text.data(), text.data() + text.size(), operand.whole);
    if (end == text.data() + text.size()) {
      is_whole_ = is_whole_ && failure == std::errc();
    } else if (std::abs(operand.number) <= kMost && operand.number == std::floor(operand.number)) {
      operand.whole = static_cast<std::int64_t>(operand.number);
    } else {
      is_whole_ = false;
    }
  }

  bool is_of_baseline() const {
    return is_baseline_next_ || (!baselines_.empty() && baselines_.back());
  }

  const std::string& formula_;
  std::vector<Expression::Operand>& operands_;
  std::string sql_;
  std::vector<std::size_t> baseline_words_;
  std::vector<bool> baselines_;  // of each open parenthesis: what is inside is of the baseline
  bool is_baseline_next_ = false;
  bool is_whole_ = true;
};

}  // namespace

Expression::Expression(const std::string& formula) {
  SqlText text(formula, operands_);
  const std::string sql = text.sql(problem_);
  is_whole_ = text.is_whole();
  baselines_ = text.baseline_words();
  if (!problem_.empty()) {
    return;
  }
  sqlite3* const connection = calculator();
  const std::string front = SqlText::kFront;
  sqlite3_stmt* statement = nullptr;
  const int outcome =
      sqlite3_prepare_v2(connection, (front + sql).c_str(), -1, &statement, nullptr);
  statement_.reset(statement, sqlite3_finalize);
  if (outcome != SQLITE_OK) {
    const int offset = sqlite3_error_offset(connection);
    const std::size_t at = offset < 0 ? formula.size() : (offset - front.size()) / 2;
    const std::string said = sqlite3_errmsg(connection);  // near "?": syntax error
    const std::size_t colon = said.rfind(": ");
    problem_ = mistake(formula, at, colon == std::string::npos ? said : said.substr(colon + 2));
  } else if (sqlite3_column_count(statement) != 1) {
    problem_ = mistake(formula, formula.size(), "several values");
  }
}

std::vector<std::string> Expression::columns(bool with_baseline) const {
  std::vector<std::string> names;
  for (const Operand& operand : operands_) {
    if (!operand.column.empty() && (with_baseline || !operand.of_baseline)) {
      names.push_back(operand.column);
    }
  }
  return names;
}

std::optional<double> Expression::value(const Lookup& lookup) const {
  sqlite3_stmt* const statement = statement_.get();
  sqlite3_reset(statement);
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const Operand& operand = operands_[i];
    const auto value = operand.column.empty() ? std::optional<double>(operand.number)
                                              : lookup(operand.column, operand.of_baseline);
    const int index = static_cast<int>(i) + 1;
    value ? sqlite3_bind_double(statement, index, *value) : sqlite3_bind_null(statement, index);
  }
  if (sqlite3_step(statement) != SQLITE_ROW || sqlite3_column_type(statement, 0) == SQLITE_NULL) {
    return std::nullopt;
  }
  const double sum = sqlite3_column_double(statement, 0);
  return std::isfinite(sum) ? std::optional<double>(sum) : std::nullopt;
}

std::optional<std::int64_t> Expression::whole_value(const WholeLookup& lookup) const {
  sqlite3_stmt* const statement = statement_.get();
  sqlite3_reset(statement);
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const Operand& operand = operands_[i];
    const auto value = operand.column.empty() ? std::optional<std::int64_t>(operand.whole)
                                              : lookup(operand.column);
    const int index = static_cast<int>(i) + 1;
    value ? sqlite3_bind_int64(statement, index, *value) : sqlite3_bind_null(statement, index);
  }
  // SQLite goes on with reals where whole numbers no longer do.
  if (sqlite3_step(statement) != SQLITE_ROW ||
      sqlite3_column_type(statement, 0) != SQLITE_INTEGER) {
    return std::nullopt;
  }
  return sqlite3_column_int64(statement, 0);
}

}  // namespace flitwise
