// SPDX-License-Identifier: Apache-2.0
/// The part of a study file that says what to show: YAML to Presentation, with the place of every
/// mistake. docs/sweeps.md
#pragma once

#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

#include "common/problems.h"
#include "config/document.h"
#include "sweep/presentation.h"

namespace flitwise {

class PresentationReader {
 public:
  explicit PresentationReader(config::ProblemList& problems) : problems_(problems) {}

  /// Keys of a study or block that belong to the presentation.
  static const std::vector<std::string>& root_keys();
  static const std::vector<std::string>& block_keys();

  /// What stands beside `blocks:`. REQUIRES of both: value is a map.
  void read_root(const config::Value& value, Presentation& presentation);
  /// Keys of a block go over what the block has already.
  void read_block(const config::Value& value, const std::string& path, BlockPresentation& block);
  /// Names that have to be known by now: figures of plots, verdicts, columns; blocks of baselines.
  /// `place` stands for the study.
  void check(const config::Place& place, const Presentation& presentation);

 private:
  using Path = std::string;
  void complain(const config::Value& value, const Path& path, const std::string& message);
  bool is_map(const config::Value& value, const Path& path,
              const std::vector<std::string>& known_keys);
  std::string text(const config::Value& value, const Path& path);
  std::vector<std::string> texts(const config::Value& value, const Path& path);
  std::vector<config::Value> items(const config::Value& value, const Path& path);
  Selection selection(const config::Value& value, const Path& path);
  /// A key of a map, and where its word, words or selection go.
  struct Field {
    std::string key;
    std::variant<std::string*, std::vector<std::string>*, Selection*> target;
  };
  void read_field(const config::Value& value, const Path& path, const Field& field);
  /// Keys that are not there leave what there is.
  void read_fields(const config::Value& value, const Path& path,
                   std::initializer_list<Field> fields);
  void read_figures(const config::Value& value, const Path& path, BlockPresentation& block);
  FigureSpec read_figure(const config::Value& value, const Path& path, const std::string& name);
  void read_baseline(const config::Value& value, const Path& path, BaselineSpec& baseline);
  void read_verdict(const config::Value& value, const Path& path, VerdictSpec& verdict);
  void read_crossing(const config::Value& value, const Path& path, CrossingSpec& crossing);
  PlotSpec read_plot(const config::Value& value, const Path& path);
  void check_block(const config::Place& place, const Presentation& presentation,
                   const BlockPresentation& block);

  config::ProblemList& problems_;
};

}  // namespace flitwise
