// SPDX-License-Identifier: Apache-2.0
// Formulas of study files.
#include "results/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace flitwise::expression_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::optional<double> value(const std::string& formula) {
  const std::map<std::string, double> row = {
      {"a", 6}, {"workload.payload", 300}, {"zero", 0}, {"rp1-ep1_up", 16}};
  const Expression expression(formula);
  EXPECT_TRUE(expression.is_valid()) << expression.problem();
  return expression.value(
      [&](const std::string& column, bool of_baseline) -> std::optional<double> {
        const auto found = row.find(column);
        if (found == row.end()) {
          return std::nullopt;
        }
        return of_baseline ? found->second * 10 : found->second;
      });
}

TEST(Expression, ProductsBindTighterThanSumsAndBothGoFromLeftToRight) {
  EXPECT_EQ(value("1 + 2 * 3 - 4 / 2"), 5);
  EXPECT_EQ(value("10 - 3 - 2"), 5);
  EXPECT_EQ(value("(1 + 2) * -3"), -9);
}

TEST(Expression, WholeNumbersWithoutADivisionAreExact) {
  const auto whole = [](const std::string& formula) {
    const Expression expression(formula);
    EXPECT_TRUE(expression.is_whole()) << formula;
    return expression.whole_value(
        [](const std::string&) { return std::optional<std::int64_t>(9007199254740993); });
  };
  EXPECT_EQ(whole("a + 1"), 9007199254740994);
  EXPECT_EQ(whole("max(a, 1e3) - -9007199254740993"), 18014398509481986);
  EXPECT_EQ(whole("a * a"), std::nullopt);
  for (const char* formula : {"a / 1", "a * 0.5", "9223372036854775808 - a", "1e19"}) {
    EXPECT_FALSE(Expression(formula).is_whole()) << formula;
  }
}

TEST(Expression, ALongFormulaIsCutInMessages) {
  EXPECT_LT(Expression(std::string(5000, '(')).problem().size(), 600U);
}

TEST(Expression, ColumnsAreThoseOfTheRowOrOfItsBaseline) {
  EXPECT_EQ(value("a + workload.payload"), 306);
  EXPECT_EQ(value("100 * a / baseline(a) - 100"), -90);
}

TEST(Expression, ANameInDoubleQuotesMayHaveOtherSigns) {
  EXPECT_EQ(value("\"rp1-ep1_up\" / 2 - -1"), 9);
  EXPECT_EQ(value("\"rp1-ep1_up\" / baseline(\"rp1-ep1_up\")"), 0.1);
  for (const char* formula : {"\"", "\"\"", "1 + \"rp1", "\"a\"\"a\""}) {
    EXPECT_FALSE(Expression(formula).is_valid()) << formula;
  }
  EXPECT_THAT(Expression("rp1:ep1").problem(), HasSubstr("double quotes"));
}

TEST(Expression, FormulaTooLongForItsTreeIsRefused) {
  std::string formula = "1";
  while (formula.size() < 100'000) {
    formula += "+1";
  }
  EXPECT_THAT(Expression(formula).problem(), HasSubstr("Expression tree is too large"));
}

TEST(Expression, FunctionsOfOneAndOfManyValues) {
  EXPECT_EQ(value("ceil(workload.payload / 256)"), 2);
  EXPECT_EQ(value("floor(2.9) + abs(-2)"), 4);
  EXPECT_EQ(value("min(4, a) + max(1, 2, 3)"), 7);
}

TEST(Expression, FirstSkipsWhatIsMissingOrZero) {
  EXPECT_EQ(value("first(missing, zero, a)"), 6);
  EXPECT_EQ(value("first(missing, zero)"), 0);
  EXPECT_EQ(value("first(missing)"), std::nullopt);
}

TEST(Expression, WhatIsMissingOrDividedByZeroIsMissing) {
  EXPECT_EQ(value("a + missing"), std::nullopt);
  EXPECT_EQ(value("a / zero"), std::nullopt);
}

TEST(Expression, MistakesSayWhereAndWhatWasExpected) {
  for (const char* formula :
       {"", "1 +", "(1", "1)", "1 2", "a b", "f(1)", "min()", "first()", "1..2", "ceil(1, 2)",
        "1, 2", "(1, 2)", "a % 2", "a; 1", "'a'", "1 /* 2", "baseline()", "random()"}) {
    const Expression expression(formula);
    EXPECT_FALSE(expression.is_valid()) << formula;
    EXPECT_THAT(expression.problem(), HasSubstr("expected")) << formula;
  }
  EXPECT_FALSE(Expression(std::string(10'000, '(')).is_valid());
}

TEST(Expression, MistakesArePlacedWhereSqliteSeesThem) {
  EXPECT_THAT(Expression("a + * b").problem(), HasSubstr("'*' at character 5: syntax error"));
  EXPECT_THAT(Expression("up + a b").problem(), HasSubstr("'b' at character 8: syntax error"));
  EXPECT_THAT(Expression("1 +").problem(), HasSubstr("the end at character 4: incomplete input"));
  EXPECT_THAT(Expression("2 * min()").problem(),
              HasSubstr("'m' at character 5: wrong number of arguments to function min()"));
}

TEST(Expression, WholeNumbersDivideAsRealsAndSignsMayRepeat) {
  EXPECT_EQ(value("7 / 2"), 3.5);
  EXPECT_EQ(value("1--2"), 3);
  EXPECT_EQ(value("baseline (a + zero) / a"), 10);
  EXPECT_EQ(value("(baseline(a)) + a"), 66);
}

TEST(Expression, NumbersMayBeginWithAPointAndHaveAnExponent) {
  EXPECT_EQ(value(".5 + 25e-2"), 0.75);
  EXPECT_EQ(value("2E+2-1e1-a"), 184);
  EXPECT_EQ(value("a-1e2"), -94);
}

TEST(Expression, WhatIsTooLargeForANumberIsMissing) {
  EXPECT_EQ(value("1e308 * 10"), std::nullopt);
}

TEST(Expression, NamesItsColumns) {
  EXPECT_THAT(Expression("a * max(b.c, 2)").columns(), ElementsAre("a", "b.c"));
}

}  // namespace
}  // namespace flitwise::expression_test
