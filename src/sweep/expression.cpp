// SPDX-License-Identifier: Apache-2.0
// Recursive descent over a formula, and its evaluation.
#include "sweep/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace flitwise {

struct Expression::Node {
  enum class Kind { kNumber, kColumn, kNegate, kAdd, kSubtract, kMultiply, kDivide, kCall };
  Kind kind = Kind::kNumber;
  double number = 0;
  std::string name;  // of a column or function
  std::vector<Node> parts;
};

namespace {

using Node = Expression::Node;
using MaybeNumber = std::optional<double>;

struct Mistake {
  std::string text;
};

struct Arity {
  const char* name;
  std::size_t least, most;
};
constexpr Arity kFunctions[] = {{"min", 1, 64}, {"max", 1, 64},  {"first", 1, 64},  {"ceil", 1, 1},
                                {"abs", 1, 1},  {"floor", 1, 1}, {"baseline", 1, 1}};

class Parser {
 public:
  Parser(const std::string& text, std::vector<std::string>& columns)
      : text_(text), columns_(columns) {}

  Node whole() {
    Node node = sum();
    if (at_ < text_.size()) {
      expected("an operator");
    }
    return node;
  }

 private:
  [[noreturn]] void expected(const char* what) const {
    throw Mistake{fmt::format("'{}': {} at character {}; expected {}", text_,
                              at_ < text_.size() ? fmt::format("'{}'", text_[at_]) : "the end",
                              at_ + 1, what)};
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
      ++at_;
    }
  }

  bool take(char c) {
    skip_blanks();
    const bool is_here = at_ < text_.size() && text_[at_] == c;
    at_ += is_here ? 1 : 0;
    skip_blanks();
    return is_here;
  }

  static Node join(Node::Kind kind, Node left, Node right) {
    Node node;
    node.kind = kind;
    node.parts = {std::move(left), std::move(right)};
    return node;
  }

  Node sum() {
    Node node = product();
    while (true) {
      if (take('+')) {
        node = join(Node::Kind::kAdd, std::move(node), product());
      } else if (take('-')) {
        node = join(Node::Kind::kSubtract, std::move(node), product());
      } else {
        return node;
      }
    }
  }

  Node product() {
    Node node = factor();
    while (true) {
      if (take('*')) {
        node = join(Node::Kind::kMultiply, std::move(node), factor());
      } else if (take('/')) {
        node = join(Node::Kind::kDivide, std::move(node), factor());
      } else {
        return node;
      }
    }
  }

  Node factor() {
    constexpr int kDeepest = 100;
    if (++depth_ > kDeepest) {
      expected("fewer nested parentheses");
    }
    Node node;
    if (take('-')) {
      node.kind = Node::Kind::kNegate;
      node.parts = {factor()};
    } else if (take('(')) {
      node = sum();
      if (!take(')')) {
        expected("')'");
      }
    } else {
      node = atom();
    }
    --depth_;
    return node;
  }

  Node atom() {
    skip_blanks();
    const auto is_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    };
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) {
      ++at_;
    }
    const std::string word = text_.substr(begin, at_ - begin);
    if (word.empty()) {
      expected("a number, a column or a function");
    }
    Node node;
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
      char* end = nullptr;
      node.number = std::strtod(word.c_str(), &end);
      if (*end != '\0') {
        at_ = begin;
        expected("a decimal number");
      }
      return node;
    }
    node.name = word;
    if (take('(')) {
      return call(std::move(node));
    }
    node.kind = Node::Kind::kColumn;
    columns_.push_back(word);
    return node;
  }

  Node call(Node node) {
    node.kind = Node::Kind::kCall;
    do {
      node.parts.push_back(sum());
    } while (take(','));
    if (!take(')')) {
      expected("')' or ','");
    }
    const auto* function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                        [&](const Arity& each) { return node.name == each.name; });
    if (function == std::end(kFunctions) || node.parts.size() < function->least ||
        node.parts.size() > function->most) {
      throw Mistake{
          fmt::format("'{}': no function {} of {} values; expected min, max, first, "
                      "ceil, floor, abs or baseline",
                      text_, node.name, node.parts.size())};
    }
    return node;
  }

  const std::string& text_;
  std::vector<std::string>& columns_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

MaybeNumber evaluate(const Node& node, const Expression::Lookup& lookup, bool of_baseline);

MaybeNumber first_of(const Node& node, const Expression::Lookup& lookup, bool of_baseline) {
  MaybeNumber last;
  for (const Node& part : node.parts) {
    const MaybeNumber value = evaluate(part, lookup, of_baseline);
    last = value ? value : last;
    if (value && *value != 0) {
      break;
    }
  }
  return last;
}

MaybeNumber call_value(const Node& node, const Expression::Lookup& lookup, bool of_baseline) {
  if (node.name == "first") {
    return first_of(node, lookup, of_baseline);
  }
  if (node.name == "baseline") {
    return evaluate(node.parts[0], lookup, true);
  }
  std::vector<double> values;
  for (const Node& part : node.parts) {
    const MaybeNumber value = evaluate(part, lookup, of_baseline);
    if (!value) {
      return std::nullopt;
    }
    values.push_back(*value);
  }
  if (node.name == "ceil") {
    return std::ceil(values[0]);
  }
  if (node.name == "floor") {
    return std::floor(values[0]);
  }
  if (node.name == "abs") {
    return std::abs(values[0]);
  }
  return node.name == "min" ? *std::min_element(values.begin(), values.end())
                            : *std::max_element(values.begin(), values.end());
}

MaybeNumber combine(Node::Kind kind, double left, double right) {
  switch (kind) {
    case Node::Kind::kAdd:
      return left + right;
    case Node::Kind::kSubtract:
      return left - right;
    case Node::Kind::kMultiply:
      return left * right;
    case Node::Kind::kDivide:
      return right == 0 ? MaybeNumber() : MaybeNumber(left / right);
    case Node::Kind::kNumber:
    case Node::Kind::kColumn:
    case Node::Kind::kNegate:
    case Node::Kind::kCall:
      break;
  }
  return std::nullopt;
}

MaybeNumber evaluate(const Node& node, const Expression::Lookup& lookup, bool of_baseline) {
  switch (node.kind) {
    case Node::Kind::kNumber:
      return node.number;
    case Node::Kind::kColumn:
      return lookup(node.name, of_baseline);
    case Node::Kind::kCall:
      return call_value(node, lookup, of_baseline);
    case Node::Kind::kNegate: {
      const MaybeNumber value = evaluate(node.parts[0], lookup, of_baseline);
      return value ? MaybeNumber(-*value) : value;
    }
    case Node::Kind::kAdd:
    case Node::Kind::kSubtract:
    case Node::Kind::kMultiply:
    case Node::Kind::kDivide:
      break;
  }
  const MaybeNumber left = evaluate(node.parts[0], lookup, of_baseline);
  const MaybeNumber right = evaluate(node.parts[1], lookup, of_baseline);
  return left && right ? combine(node.kind, *left, *right) : std::nullopt;
}

}  // namespace

Expression::Expression(const std::string& formula) {
  constexpr std::size_t kLongest = 4096;  // Each operator is one level of the tree.
  try {
    if (formula.size() > kLongest) {
      throw Mistake{
          fmt::format("a formula of {} characters; expected at most {}", formula.size(), kLongest)};
    }
    root_ = std::make_shared<Node>(Parser(formula, columns_).whole());
  } catch (const Mistake& mistake) {
    problem_ = mistake.text;
  }
}

std::optional<double> Expression::value(const Lookup& lookup) const {
  return evaluate(*root_, lookup, false);
}

}  // namespace flitwise
