// SPDX-License-Identifier: Apache-2.0
// YAML to Study, with the place of every mistake.
#include <fmt/format.h>

#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include "common/input_file.h"
#include "common/problems.h"
#include "common/quantity.h"
#include "common/ranges.h"
#include "config/document.h"
#include "config/sections/sections.h"
#include "sweep/plan.h"
#include "sweep/presentation_reader.h"
#include "sweep/study_names.h"

namespace flitwise {
namespace {

using config::Place;

const std::vector<std::string> kRootKeys = {"base",    "seeds",    "set",     "axes",    "zip",
                                            "title",   "figures",  "columns", "about",   "baseline",
                                            "verdict", "crossing", "plots",   "summary", "blocks"};
const std::vector<std::string> kBlockKeys = {"base",     "seeds", "set",     "axes",     "zip",
                                             "title",    "about", "figures", "baseline", "verdict",
                                             "crossing", "plots", "summary", "name"};

/// Reads one study; problems are collected on the way.
class StudyReader : private PresentationReader {
 public:
  StudyReader(const std::string& file, const CommandAxes& added)
      : file_(file), folder_(std::filesystem::path(file).parent_path()), added_(added) {}

  Study read(const std::string& yaml) {
    const Value root = config::parse_yaml(yaml, Place{file_, 0, 0, 0}, problems);
    Study study;
    study.file = file_;
    std::error_code ignored;
    study.presentation.file =
        std::filesystem::weakly_canonical(std::filesystem::absolute(file_, ignored), ignored)
            .string();
    if (root.kind == Value::Kind::kMap) {
      read_root(root, study);
    } else if (problems.empty()) {  // else nothing could be read
      complain(Place{file_, root.place.line, root.place.column, 0}, "",
               fmt::format("{} where a sweep is expected; expected axes, zip, "
                           "seeds or blocks over a base",
                           root.seen()));
    }
    if (!problems.empty()) {
      add_problems_of_points(std::move(study));
      throw ConfigError(problems.sorted());
    }
    return study;
  }

 private:
  static std::string hint_of_section(const std::string& key) {
    const std::vector<std::string> sections = config::key_tree().child_names();
    return !contains(sections, key) ? ""
                                    : "; this is a section of a config, which 'flitwise run' takes";
  }

  /// What is wrong with values is told together with the rest, of blocks that make points.
  void add_problems_of_points(Study study) {
    study.blocks = those(study.blocks, [](const Block& block) {
      return !block.base.empty() && flaw_of_regular_file(block.base).empty() &&
             all_of(block.sets, [](const Axis& set) { return !set.values.front().empty(); }) &&
             all_of(block.groups, [](const AxisGroup& group) {
               return all_of(group, [&group](const Axis& axis) {
                 return !axis.values.empty() && axis.values.size() == group.front().values.size();
               });
             });
    });
    try {
      make_plan(study);
    } catch (const ConfigError& error) {
      for (const Problem& one : error.problems()) {
        const bool has_place = one.line != 0 || one.file == kCommandLine;  // else a key with '='
        if (has_place) {
          const int source = one.file == file_ ? 0 : 1;
          problems.add({one.file, one.line, one.column, source}, one.path, one.message);
        }
      }
    }
  }

  void read_root(const Value& root, Study& study) {
    check_keys(root, "", kRootKeys, hint_of_section);
    Block common;
    common.name = "main";
    BlockPresentation look;
    read_block(root, "", common, look);
    mentions_ = &study.presentation.mentions;
    read_fields(root, "", {{"columns", &study.presentation.summary_columns, Mention::Of::kFigure}});
    study.presentation.title = std::exchange(look.title, "");
    const auto* blocks = root.find("blocks");
    if (blocks == nullptr) {
      finish(root.place, "", common, look, study);
    } else {
      read_blocks(blocks->value, common, look, study);
    }
    check(root.place, study.presentation);
    check_summary(root, study.presentation);
    check_names(study, problems);
  }

  /// Figures without points stand for all points of the blocks that have them; points without
  /// figures make no table. [docs/sweeps.md]
  void check_summary(const Value& root, Presentation& shown) {
    const auto* columns = root.find("columns");
    const bool has_points =
        any_of(shown.blocks, [](const BlockPresentation& block) { return !block.summary.empty(); });
    if (columns != nullptr && !has_points) {
      const auto has_all = [&shown](const BlockPresentation& block) {
        return all_of(shown.summary_columns,
                      [&block](const std::string& name) { return block.figure(name) != nullptr; });
      };
      const bool is_known = any_of(shown.blocks, has_all);
      for (BlockPresentation& block : shown.blocks) {
        if (!is_known || has_all(block)) {
          block.summary.emplace_back();
        }
      }
    }
    if (columns == nullptr && has_points) {
      complain(root.place, "summary",
               "points of a summary that has no figures; expected columns: [FIGURE, ...]");
    }
  }

  void read_blocks(const Value& blocks, const Block& common, const BlockPresentation& look,
                   Study& study) {
    if (blocks.kind != Value::Kind::kSequence || blocks.items.empty()) {
      complain(blocks.place, "blocks", fmt::format("{}; expected a list of blocks", blocks.seen()));
      return;
    }
    for (std::size_t i = 0; i < blocks.items.size(); ++i) {
      read_named_block(blocks.items[i], fmt::format("blocks[{}]", i), common, look, study);
    }
  }

  /// A block starts as a copy of what stands beside `blocks:`.
  void read_named_block(const Value& value, const std::string& path, const Block& common,
                        const BlockPresentation& look, Study& study) {
    if (!expect(value, Value::Kind::kMap, path, "a block with a name")) {
      return;
    }
    check_keys(value, path, kBlockKeys);
    Block block = common;
    const auto* name = value.find("name");
    if (name == nullptr) {
      complain(value.place, path, "a block without a name; expected name: WORD");
      return;
    }
    block.name = text(name->value, path + ".name");
    for (const Block& other : study.blocks) {
      if (other.name == block.name) {
        complain(
            name->value.place, path + ".name",
            fmt::format("'{}' is the name of an earlier block; expected another one", block.name));
      }
    }
    BlockPresentation own = look;
    read_block(value, path, block, own);
    finish(value.place, path, block, own, study);
  }

  void finish(const Place& place, const std::string& path, Block block, BlockPresentation look,
              Study& study) {
    add_to(block);
    if (block.base.empty()) {
      complain(place, path, "no base; expected base: CONFIG.yaml");
    }
    look.name = block.name;
    const bool has_baseline = !look.baseline.where.empty() || !look.baseline.match.empty();
    if (look.baseline.block.empty() && has_baseline) {
      look.baseline.block = block.name;
    }
    for (const AxisGroup& group : block.groups) {
      for (const Axis& axis : group) {
        const std::string label = label_name(axis.key);
        const std::string& name = label.empty() ? axis.key : label;
        const Place there{axis.line == 0 ? kCommandLine : file_, axis.line, axis.column, 0};
        if (contains(look.varied, name)) {
          complain(there, axis.key,
                   fmt::format("block {} varies '{}' already; expected each key and label once",
                               block.name, name));
        }
        if (axis.key == kSeedKey) {
          complain(there, axis.key,
                   "as an axis would make rows of single runs; expected seeds: [1, 2, ...], or "
                   "--seeds");
        }
        look.varied.push_back(name);
      }
    }
    study.blocks.push_back(std::move(block));
    study.presentation.blocks.push_back(std::move(look));
  }

  void add_to(Block& block) {
    for (const AxisGroup& group : added_.groups) {
      for (const Axis& axis : group) {
        for (AxisGroup& own : block.groups) {
          const bool has_key = any_of(own, [&](const Axis& one) { return one.key == axis.key; });
          if (has_key && own.size() > 1) {
            problems.add(
                {kCommandLine, 0, 0, 0}, axis.key,
                fmt::format("moves together with others in a zip of block {}; expected a key "
                            "that does not",
                            block.name));
          } else if (has_key) {
            own.clear();
          }
        }
      }
    }
    block.groups = those(block.groups, [](const AxisGroup& group) { return !group.empty(); });
    block.groups.insert(block.groups.end(), added_.groups.begin(), added_.groups.end());
    if (!added_.seeds.empty()) {
      block.seeds = added_.seeds;
    }
  }

  void read_block(const Value& map, const std::string& path, Block& block,
                  BlockPresentation& look) {
    read_fields(map, path, fields_of(look));
    const auto with = [&](void (StudyReader::*reader)(const Value&, const std::string&, Block&)) {
      return [this, reader, &block](const Value& value, const std::string& where) {
        (this->*reader)(value, where, block);
      };
    };
    read_fields(map, path,
                {{"base", with(&StudyReader::read_base)},
                 {"seeds", with(&StudyReader::read_seeds)},
                 {"set", with(&StudyReader::read_sets)},
                 {"axes", with(&StudyReader::read_axes)},
                 {"zip", with(&StudyReader::read_zip)}});
    check_sets(map, path, block);
  }

  /// A value that stands beside axes, or behind inherited ones, and that they hide. One that blocks
  /// start with may be varied by a block.
  void check_sets(const Value& map, const std::string& path, const Block& block) {
    const auto* sets = map.find("set");
    for (const Value::Entry& entry :
         sets == nullptr ? std::vector<Value::Entry>{} : sets->value.entries) {
      if (block.varies(entry.key)) {
        complain(entry.place, (path.empty() ? "" : path + ".") + "set." + entry.key,
                 fmt::format("{} too; expected it in one of them",
                             entry.key == kSeedKey ? "seeds set it" : "an axis varies it"));
      }
    }
  }

  void read_base(const Value& value, const std::string& path, Block& block) {
    const std::filesystem::path base = text(value, path);
    block.base = (base.is_absolute() ? base : folder_ / base).lexically_normal().string();
    const std::string flaw = flaw_of_regular_file(block.base);
    if (!base.empty() && !flaw.empty()) {
      complain(value.place, path,
               fmt::format("{}; expected a config", flaw_of_file(block.base, flaw)));
    }
  }

  void read_seeds(const Value& value, const std::string& path, Block& block) {
    block.seeds.clear();
    for (const std::string& word : list(value, path)) {
      const auto seed = config::read_whole(word);
      if (!seed.value) {
        complain(value.place, path, seed.problem);
      } else if (contains(block.seeds, *seed.value)) {
        complain(value.place, path, fmt::format("{} twice; expected each seed once", word));
      } else {
        block.seeds.push_back(*seed.value);
      }
    }
  }

  void read_sets(const Value& value, const std::string& path, Block& block) {
    expect(value, Value::Kind::kMap, path, "key: value");
    for (const Value::Entry& entry : value.entries) {
      block.sets.push_back(axis_of(entry, {value_of_key(entry.value, path + "." + entry.key)}));
    }
  }

  void read_axes(const Value& value, const std::string& path, Block& block) {
    for (const Axis& axis : axes_of(value, path)) {
      block.groups.push_back({axis});
    }
  }

  AxisGroup axes_of(const Value& value, const std::string& path) {
    AxisGroup axes;
    expect(value, Value::Kind::kMap, path, "key: [values]");
    for (const Value::Entry& entry : value.entries) {
      check_label(entry, path);
      axes.push_back(axis_of(entry, list(entry.value, path + "." + entry.key)));
    }
    return axes;
  }

  Axis axis_of(const Value::Entry& entry, const std::vector<std::string>& values) {
    if (entry.key.find('=') != std::string::npos && label_name(entry.key).empty()) {
      complain(entry.place, entry.key,
               "has '='; expected the path of one config key, such as link.mps");
    }
    return {entry.key, values, entry.place.line, entry.place.column};
  }

  /// A label makes a column of its own, so it may not take the name of another.
  void check_label(const Value::Entry& entry, const std::string& path) {
    const std::string name = label_name(entry.key);
    if (!name.empty() && (name.find('.') != std::string::npos || contains(kPointColumns, name))) {
      complain(entry.place, path + "." + entry.key,
               fmt::format("'{}' cannot name a column; expected label.WORD, not block, id or seed",
                           name));
    }
  }

  void read_zip(const Value& value, const std::string& path, Block& block) {
    if (!expect(value, Value::Kind::kSequence, path, "a list of groups {a: [..], b: [..]}")) {
      return;
    }
    for (const Value& item : value.items) {
      AxisGroup group = axes_of(item, path);
      for (const Axis& axis : group) {
        if (axis.values.size() != group.front().values.size()) {
          complain({file_, axis.line, axis.column, 0}, path + "." + axis.key,
                   fmt::format("{} values beside the {} of {}; expected equally many",
                               axis.values.size(), group.front().values.size(), group.front().key));
        }
      }
      if (!group.empty()) {
        block.groups.push_back(std::move(group));
      }
    }
  }

  /// As --set takes it: one value, or a list of values such as "[1,2]".
  std::string value_of_key(const Value& value, const std::string& path) {
    if (value.kind != Value::Kind::kSequence) {
      return text(value, path);
    }
    const auto items = mapped(value.items, [&](const Value& item) {
      const std::string word = value_of_key(item, path);
      const bool is_plain = item.kind == Value::Kind::kSequence ||
                            (!item.is_quoted && word.find_first_of(",[]{}") == std::string::npos);
      return is_plain ? word : nlohmann::json(word).dump();
    });
    return fmt::format("[{}]", fmt::join(items, ","));
  }

  /// A list, {range: ...} or {linspace: [...]}.
  std::vector<std::string> list(const Value& value, const std::string& path) {
    if (value.kind == Value::Kind::kSequence && !value.items.empty()) {
      return mapped(value.items, [&](const Value& item) { return value_of_key(item, path); });
    }
    if (value.kind == Value::Kind::kMap && value.entries.size() == 1) {
      const Value::Entry& form = value.entries.front();
      if (form.key == "range") {
        return expanded(expand_range(text(form.value, path)), form.value, path);
      }
      if (form.key == "linspace" && form.value.kind == Value::Kind::kSequence) {
        return expanded(expand_linspace(list(form.value, path)), form.value, path);
      }
    }
    complain(value.place, path,
             fmt::format("{}; expected a list with at least one value, {{range: A..B:*K}} or "
                         "{{linspace: [first, last, count]}}",
                         value.seen()));
    return {};
  }

  std::vector<std::string> expanded(const ExpandedValues& values, const Value& form,
                                    const std::string& path) {
    if (!values.problem.empty()) {
      complain(form.place, path, values.problem);
    }
    return values.values;
  }

  std::string file_;
  std::filesystem::path folder_;
  const CommandAxes& added_;
};

}  // namespace

std::string label_name(const std::string& key) {
  constexpr const char* kFront = "label.";
  return key.rfind(kFront, 0) == 0 ? key.substr(std::string(kFront).size()) : "";
}

bool is_study(const std::string& yaml) {
  constexpr const char* kSweepKeys[] = {"axes:", "blocks:", "seeds:", "zip:"};
  std::istringstream in(yaml);
  for (std::string line; std::getline(in, line);) {
    if (any_of(kSweepKeys, [&](const char* key) { return line.rfind(key, 0) == 0; })) {
      return true;
    }
  }
  return false;
}

Study study_from_text(const std::string& yaml, const std::string& name, const CommandAxes& added) {
  return StudyReader(name, added).read(yaml);
}

Study read_study(const std::string& file, const CommandAxes& added) {
  const std::string text = input_text(file, "a sweep file");
  const bool has_added = !added.groups.empty() || !added.seeds.empty();
  if (!has_added || is_study(text)) {
    return study_from_text(text, file, added);
  }
  const std::string base = std::filesystem::path(file).filename().string();
  return study_from_text("base: " + nlohmann::json(base).dump() + "\n", file, added);
}

}  // namespace flitwise
