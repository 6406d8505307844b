// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Every number that a deck can hold, at both ends of what its key allows: whatever that means for a
// run, it ends in time and in an orderly way. The keys are those of the schema, so that a new one
// is tried as well.
#include "app/app.hpp"
#include "deck/describe/describe.hpp"
#include "deck/read/quantities.hpp"
#include "tiny_run.hpp"

#include "zygos/load/deck_file.hpp"

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace zygos::test_extreme_values {

namespace {

using deck::KeyFacts;
using deck::Schema;
using deck::Type;

/// Of a run that never ends; machines are shared.
constexpr unsigned time_limit_s = 60;
/// Of one whose number is the amount of work, all of which is wanted: it is only seen to begin.
constexpr unsigned begin_time_s = 2;
constexpr std::array long_work{"data.power_law_graph.nodes", "data.synthetic.size",
                               "data.tokens.sequence"};
/// Of the section train, what is due between steps or between ranks: nothing that is asked of the
/// profiler depends on it. A new key is not among these at first, so its runs are measured.
constexpr std::array between_steps{"train.evaluate_every", "train.min_improvement",
                                   "train.patience", "train.peer_timeout", "train.report_every"};
#ifdef __SANITIZE_ADDRESS__
constexpr rlim_t memory_limit = RLIM_INFINITY;  // AddressSanitizer's own map is 16 TiB
#else
constexpr rlim_t memory_limit = rlim_t{8} << 30;
#endif

/// An override that sets a key, made from "key: value" within the key's section.
using Wrap = std::function<std::string(const std::string& line)>;

struct Case {
  std::string key;  ///< "lanes.device.memory"
  std::string override;
};

bool is_number(Type type) {
  return type == Type::integer || type == Type::real || type == Type::quantity ||
         type == Type::integers || type == Type::reals;
}

/// The smallest and the largest number that the key takes; that the type takes where it says none.
std::array<std::string, 2> ends_of(const KeyFacts& facts) {
  const deck::Range& range = facts.range;
  if (facts.type == Type::integer || facts.type == Type::integers) {
    const auto whole = [](double value, int inwards) {
      return std::to_string(static_cast<std::int64_t>(value) + inwards);
    };
    using Limits = std::numeric_limits<std::int64_t>;
    return {
        range.least ? whole(*range.least, range.open_below ? 1 : 0) : std::to_string(Limits::min()),
        range.most ? whole(*range.most, range.open_above ? -1 : 0) : std::to_string(Limits::max())};
  }
  using Limits = std::numeric_limits<double>;
  const double least = range.least.value_or(Limits::lowest());
  const double most = range.most.value_or(Limits::max());
  return {deck::text_of(range.open_below ? std::nextafter(least, Limits::max()) : least),
          deck::text_of(range.open_above ? std::nextafter(most, Limits::lowest()) : most)};
}

/// "key: value" for both ends and, of a quantity, all units.
std::vector<std::string> lines_of(const KeyFacts& facts) {
  std::vector<std::string> lines;
  for (const std::string& end : ends_of(facts)) {
    if (facts.type == Type::integers || facts.type == Type::reals) {
      std::string list = end;
      for (std::size_t i = 1; i < facts.shortest; ++i) {
        list += ", " + end;
      }
      lines.push_back(facts.name + ": [" + list + "]");
    } else if (facts.type == Type::quantity) {
      for (const deck::Unit unit : facts.units) {
        // The base of a unit, which counts as 1.
        const std::string word = unit == deck::Unit::seconds ? "s"
                                 : unit == deck::Unit::bytes ? "B"
                                                             : std::string(words_of(unit).front());
        lines.push_back(facts.name + ": " + end + " " +
                        (unit == deck::Unit::bandwidth ? "B/s" : word));
      }
    } else {
      lines.push_back(facts.name + ": " + end);
    }
  }
  return lines;
}

/// Keys that have to be given, but for `other`.
std::string required_lines(const Schema& schema, const std::string& other) {
  std::string text;
  for (const deck::Key& key : schema.keys()) {
    if (deck::is_required(key.facts()) && key.facts().name != other) {
      text += ", " + deck::sample_text(key.facts());
    }
  }
  return text;
}

void collect(const Schema& schema, const std::string& path, const Wrap& wrap,
             std::vector<Case>& cases);

void collect_variant(const KeyFacts& facts, const std::string& path, const Wrap& wrap,
                     std::vector<Case>& cases) {
  for (const Schema& choice : facts.schemas) {
    const std::string head = "{" + facts.discriminator + ": " + choice.name();
    collect(
        choice, path + "." + choice.name(),
        [&, head](const std::string& line) {
          const std::string key = line.substr(0, line.find(':'));
          const std::string section = head + required_lines(choice, key) + ", " + line + "}";
          const bool layer = facts.name == "layers" && facts.type == Type::variants;
          return wrap(layer ? "layers: [" + section + ", flatten, {type: dense, units: 10}]"
                            : facts.name + ": " + section);
        },
        cases);
  }
}

void collect(const Schema& schema, const std::string& path, const Wrap& wrap,
             std::vector<Case>& cases) {
  for (const deck::Key& key : schema.keys()) {
    const KeyFacts& facts = key.facts();
    const std::string here = path.empty() ? facts.name : path + "." + facts.name;
    if (is_number(facts.type)) {
      for (const std::string& line : lines_of(facts)) {
        cases.push_back({here, wrap(line)});
      }
    } else if (facts.type == Type::variant || facts.type == Type::variants) {
      const bool nested = here.find("layers.") != std::string::npos;  // repeat's own list
      if (!nested) {
        collect_variant(facts, here, wrap, cases);
      }
    } else if (facts.type == Type::section) {
      const Schema& inner = facts.schemas.front();
      collect(
          inner, here,
          [&, wrap](const std::string& line) {
            const std::string name = line.substr(0, line.find(':'));
            return wrap(facts.name + ": {" + line + required_lines(inner, name) + "}");
          },
          cases);
    } else if (facts.type == Type::named_sections) {
      const Schema& inner = facts.schemas.front();
      collect(
          inner, here,
          [&, wrap](const std::string& line) {
            return wrap(facts.name + ": {host: {kind: host}, other: {kind: emulated, " + line +
                        "}}");
          },
          cases);
    }
  }
}

/// A key of the top alone: "train: {batch: 1}" is "train={batch: 1}" on the command line.
std::string as_override(const std::string& line) {
  const auto colon = line.find(": ");
  return line.substr(0, colon) + "=" + line.substr(colon + 2);
}

/// What the rest of a section must have, so that the others are those of the tiny deck.
std::string completed(const std::string& override) {
  const auto has = [&](const char* text) { return override.find(text) != std::string::npos; };
  std::string whole = override;
  const auto add = [&](const char* more) { whole.insert(whole.size() - 1, more); };
  if (override.starts_with("train=")) {
    if (!has("batch:")) {
      add(", batch: 32");
    }
    if (!has("steps:") && !has("epochs:")) {
      add(", steps: 3");
    }
  }
  if (override.starts_with("data=")) {
    for (const char* format : {"format: glyphs", "format: synthetic", "format: tokens"}) {
      if (has(format) && !has(" samples:")) {
        add(", samples: 480");
      }
      if (has(format) && !has("test_samples:")) {
        add(", test_samples: 0");
      }
    }
  }
  if (override.starts_with("model=")) {
    if (!has("layers:")) {
      add(", layers: [{type: dense, units: 10}]");
    }
    if (!has("loss:")) {
      add(", loss: cross_entropy");
    }
  }
  return whole;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const Schema schema = load::whole_schema();
  collect(schema, "", as_override, cases);
  for (Case& one : cases) {
    one.override = completed(one.override);
  }
  return cases;
}

/// How zygos ended in a process of its own: its exit code, or 128 + the signal.
int ended_with(const std::vector<std::string>& words, const std::filesystem::path& directory,
               unsigned seconds = time_limit_s) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_RDWR);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    const rlimit limit{memory_limit, memory_limit};
    ::setrlimit(RLIMIT_AS, &limit);
    ::alarm(seconds);
    std::vector<const char*> arguments{"zygos"};
    for (const std::string& word : words) {
      arguments.push_back(word.c_str());
    }
    ::setenv("XDG_CACHE_HOME", (directory / "cache").c_str(), 1);  // nobody's profiles
    const bool there = ::chdir(directory.c_str()) == 0;
    ::_exit(there ? app::run(static_cast<int>(arguments.size()), arguments.data()) : 99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Done, or refused for a reason that the user can do something about.
bool is_orderly(int code) { return code == 0 || code == 2 || code == 3 || code == 6 || code == 7; }

}  // namespace

TEST_CASE("no number that a deck may hold, at either end, makes a check fail") {
  const test::Scratch scratch;
  test::write_tiny_deck(scratch.path());
  const auto cases = all_cases();
  CHECK(cases.size() > 300);
  std::set<int> codes;
  for (const Case& one : cases) {
    const bool is_long = std::ranges::find(long_work, one.key) != long_work.end();
    const int code = ended_with({"check", "tiny.yaml", one.override}, scratch.path(),
                                is_long ? begin_time_s : time_limit_s);
    CAPTURE(one.key, one.override, code);
    CHECK((is_orderly(code) || (is_long && code == 128 + SIGALRM)));
    codes.insert(code);
  }
  CHECK(codes.contains(0));
  CHECK(codes.contains(6));
}

TEST_CASE("no number that says when something is due, at either end, makes a run fail") {
  const test::Scratch scratch;
  test::write_tiny_deck(scratch.path());
  for (const Case& one : all_cases()) {
    const bool length = one.key == "train.steps" || one.key == "train.epochs";
    if (length || !(one.key.starts_with("train.") || one.key.starts_with("checkpoint."))) {
      continue;
    }
    std::vector<std::string> words{"train", "tiny.yaml", one.override, "--fresh"};
    if (one.key.starts_with("checkpoint.") ||
        std::ranges::find(between_steps, one.key) != between_steps.end()) {
      words.emplace_back("--unmeasured");
    }
    const int code = ended_with(words, scratch.path());
    CAPTURE(one.key, one.override, code);
    CHECK(is_orderly(code));
  }
}

}  // namespace zygos::test_extreme_values
