// SPDX-License-Identifier: Apache-2.0
// A machine driven line by line.
#include "script/script.h"

#include <istream>
#include <ostream>
#include <string>

#include "codec/json_value.h"
#include "common/input_file.h"
#include "flitwise/error.h"
#include "script/script_session.h"

namespace flitwise {
namespace {

constexpr int kGood = 0;
constexpr int kBadLines = 2;

class Script {
 public:
  Script(std::ostream& out, const Config& config)
      : output_([&out](const Json& line) { write(out, line); }),
        session_(config, true, false, output_) {}

  void line(const std::string& text, int number) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) {
      return;
    }
    const Json object = json_value::parse(text);
    if (object.is_array()) {
      is_good_ = false;  // lines of PIO send memory write no "done"
      output_.error(0, "not_modelled", "PIO send memory");
      return;
    }
    const std::uint32_t token =
        output_.begin(object.is_object() && object.contains("id") ? object["id"] : Json(), number);
    execute(object, number, token);
    output_.done(token);
  }
  int finish() {
    session_.run_until_idle();
    return is_good_ ? kGood : kBadLines;
  }

 private:
  static void write(std::ostream& out, const Json& line) {
    out << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
    if (line.contains("done")) {
      out.flush();
    }
  }
  void execute(const Json& object, int number, std::uint32_t token) {
    if (!object.is_object()) {
      is_good_ = false;
      output_.bad_value(token, object.is_discarded()
                                   ? "not JSON; expected an object such as {\"op\": \"run\", "
                                     "\"until\": \"idle\"}"
                                   : "expected a JSON object with op");
      return;
    }
    try {
      is_good_ = session_.execute(parse_script_line(object, number), token) && is_good_;
    } catch (const DeadlockError& error) {
      output_.error(token, "no_progress", error.what());  // a later line may set it going again
    } catch (const ConfigError& error) {
      is_good_ = false;
      for (const Problem& problem : error.problems()) {
        output_.bad_value(
            token, problem.path.empty() ? problem.message : problem.path + ": " + problem.message);
      }
    }
  }

  ScriptOutput output_;
  ScriptSession session_;
  bool is_good_ = true;
};

}  // namespace

int script_command(std::istream& in, std::ostream& out, const Config& config) {
  Script script(out, config);
  std::string text;
  for (int number = 1; read_line(in, text, "script", number); ++number) {
    script.line(text, number);
  }
  const int code = script.finish();
  out.flush();
  return code;
}

}  // namespace flitwise
