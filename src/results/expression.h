// SPDX-License-Identifier: Apache-2.0
/// Arithmetic over the columns of a merged sweep: how a study file makes figures of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct sqlite3_stmt;

namespace flitwise {

/// + - * / and parentheses over numbers, columns (up_goodput_gbps, workload.payload) and functions:
/// min, max, ceil, floor, abs; first(a, b, ...): the first one that is there and not 0;
/// baseline(a): a in the row that this row is compared with. SQLite does the arithmetic, on reals.
class Expression {
 public:
  /// The number in a column of the row at hand or of its baseline; empty if there is none.
  using Lookup = std::function<std::optional<double>(const std::string& column, bool of_baseline)>;

  /// Reads a formula. On a mistake it is_valid() no more and problem() says what was expected.
  explicit Expression(const std::string& formula);

  bool is_valid() const { return problem_.empty(); }
  const std::string& problem() const { return problem_; }
  /// Columns that the formula names, in order of appearance; those of the baseline if asked for.
  std::vector<std::string> columns(bool with_baseline = true) const;
  /// Empty where a column is missing or a divisor is 0. REQUIRES: is_valid().
  std::optional<double> value(const Lookup& lookup) const;

  /// Is nothing divided, and each number of the formula a whole one of 64 bits? Then whole_value is
  /// exact for whole columns, as value is up to 2^53 only.
  bool is_whole() const { return is_whole_; }
  using WholeLookup = std::function<std::optional<std::int64_t>(const std::string& column)>;
  /// Empty where a column is missing or a sum is beyond 64 bits. REQUIRES: is_valid(), is_whole().
  std::optional<std::int64_t> whole_value(const WholeLookup& lookup) const;

  /// What stands for one `?` of the statement: a number, or a column if that has a name.
  struct Operand {
    std::string column;
    bool of_baseline = false;
    double number = 0;
    std::int64_t whole = 0;  ///< the same, exact, where the formula is_whole()
    std::size_t at = 0;      ///< where its name begins in the formula, from 0
  };
  const std::vector<Operand>& operands() const { return operands_; }
  /// Where each word `baseline` begins in the formula, from 0.
  const std::vector<std::size_t>& baselines() const { return baselines_; }

 private:
  std::shared_ptr<sqlite3_stmt> statement_;
  std::vector<Operand> operands_;
  std::vector<std::size_t> baselines_;
  std::string problem_;
  bool is_whole_ = true;
};

}  // namespace flitwise
