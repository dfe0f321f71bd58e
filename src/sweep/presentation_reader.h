// SPDX-License-Identifier: Apache-2.0
/// Reads study files by tables of keys, with the place of every mistake; of such a file this is the
/// part that says what to show: YAML to Presentation. docs/sweeps.md
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/problems.h"
#include "config/document.h"
#include "sweep/presentation.h"

namespace flitwise {

class PresentationReader {
 public:
  using Value = config::Value;
  using Path = std::string;
  /// A key of a map, and where its word, words or selection go, or what reads it.
  struct Field {
    std::string key;
    std::variant<std::string*, std::vector<std::string>*, Selection*,
                 std::function<void(const Value&, const Path&)>>
        target;
    std::optional<Mention::Of> names = {};  ///< what its words name that has to be there
  };
  using Fields = std::vector<Field>;

  /// Keys of a block that belong to the presentation. They go over what the block has already.
  Fields fields_of(BlockPresentation& block);
  /// Figures name each other one way, and have names of their own; blocks of baselines are there.
  /// What else is named: check_names.
  /// `place` stands for the study.
  void check(const config::Place& place, const Presentation& presentation);

  void complain(const config::Place& place, const Path& path, const std::string& message);
  /// Reads the keys that are there, in the order of the file. REQUIRES: value is a map.
  void read_fields(const Value& value, const Path& path, const Fields& fields);
  /// Complains of keys that are not known; `hint` adds to that.
  void check_keys(const Value& map, const Path& path, const std::vector<std::string>& known,
                  const std::function<std::string(const std::string& key)>& hint = {});
  /// Complains where the value is of another kind; returns whether it is of this one.
  bool expect(const Value& value, Value::Kind kind, const Path& path, const std::string& form);
  std::string text(const Value& value, const Path& path);
  std::vector<std::string> texts(const Value& value, const Path& path);

  config::ProblemList problems;

 protected:
  /// Where fields keep what they name: of the block that is read, or of the study.
  std::vector<Mention>* mentions_ = nullptr;

 private:
  /// Keeps the words of a value, or the columns and values of a selection.
  void mention(Mention::Of of, const Value& value, const Path& path);
  Selection selection(const Value& value, const Path& path);
  /// For each item of a list.
  void read_items(const Value& value, const Path& path,
                  const std::function<void(const Value&)>& read);
  /// False where the value is no map, or one without the key `needed`; other keys are mistakes, to
  /// which `hint` adds.
  bool read_map(const Value& value, const Path& path, const Fields& fields,
                const std::string& needed = "",
                const std::function<std::string(const std::string& key)>& hint = {});
  void read_figures(const Value& value, const Path& path, BlockPresentation& block);
  FigureSpec read_figure(const Value& value, const Path& path, const std::string& name);
  void read_baseline(const Value& value, const Path& path, BaselineSpec& baseline);
  void read_verdict(const Value& value, const Path& path, VerdictSpec& verdict);
  void read_crossing(const Value& value, const Path& path, CrossingSpec& crossing);
  PlotSpec read_plot(const Value& value, const Path& path);
  void check_name(const config::Place& place, const Presentation& presentation,
                  const FigureSpec& figure);
};

}  // namespace flitwise
