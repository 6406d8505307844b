// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/sweep/sweep_plan.hpp"

#include "app/text.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

namespace zygos::app {

namespace {

SweepAxis axis_from(const std::string& word) {
  const auto equals = word.find('=');
  ZYGOS_REQUIRE(equals != std::string::npos, "the parser accepted a word without '='");
  SweepAxis axis{word.substr(0, equals), split_at_commas(word.substr(equals + 1))};
  std::set<std::string> seen;
  for (const std::string& value : axis.values) {
    if (value.empty() && axis.values.size() > 1) {
      throw UsageError(fmt::format("'{}' has an empty value; write {}=a,b,c", word, axis.key));
    }
    if (!seen.insert(value).second) {
      throw UsageError(fmt::format("'{}' has the value {} twice", word, value));
    }
  }
  return axis;
}

std::vector<SweepAxis> axes_from(const std::vector<std::string>& words) {
  std::vector<SweepAxis> axes;
  for (const std::string& word : words) {
    axes.push_back(axis_from(word));
    const auto twin = std::find_if(axes.begin(), axes.end() - 1, [&](const SweepAxis& axis) {
      return axis.key == axes.back().key;
    });
    if (twin != axes.end() - 1) {
      throw UsageError(
          fmt::format("{} is given twice; write all its values behind one '='", axes.back().key));
    }
  }
  return axes;
}

std::string last_part(const std::string& key) { return key.substr(key.rfind('.') + 1); }

/// The last parts of the keys, whole keys where these are not unique.
std::vector<std::string> labels_of(const std::vector<SweepAxis>& axes) {
  std::vector<std::string> labels;
  for (const SweepAxis& axis : axes) {
    const auto same = std::ranges::count_if(
        axes, [&](const SweepAxis& other) { return last_part(other.key) == last_part(axis.key); });
    labels.push_back(same > 1 || last_part(axis.key) == "seed" ? axis.key : last_part(axis.key));
  }
  return labels;
}

/// The first characters, and a hash of `whole`.
std::string shortened(const std::string& text, std::size_t longest, const std::string& whole) {
  return text.substr(0, longest) + "~" +
         io::xxh64_hex(std::as_bytes(std::span(whole))).substr(0, 6);
}

/// As part of a file's name; what is long or has other characters ends with a hash, so that
/// different values have different names.
std::string file_text(const std::string& value) {
  constexpr std::size_t longest = 40;
  std::string text;
  for (const char c : value) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '+' || c == '-' || c == '_';
    if (plain) {
      text += c;
    } else if (!text.empty() && text.back() != '_') {
      text += '_';
    }
  }
  if (text == value && text.size() <= longest) {
    return text;
  }
  return shortened(text, longest, value);
}

void refuse_too_many(const std::vector<SweepAxis>& axes, std::int64_t seeds) {
  auto runs = static_cast<double>(seeds);
  for (const SweepAxis& axis : axes) {
    runs *= static_cast<double>(axis.values.size());
  }
  if (runs > static_cast<double>(max_sweep_runs)) {
    throw UsageError(fmt::format("this sweep has {:.0f} runs; {} is the most", runs,
                                 text_of_count(max_sweep_runs)));
  }
}

/// Combination number `index`: the digits of a number whose last digit is the last axis.
std::vector<std::string> values_of(const std::vector<SweepAxis>& axes, std::size_t index) {
  std::vector<std::string> values(axes.size());
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    values[axis] = axes[axis].values[index % axes[axis].values.size()];
    index /= axes[axis].values.size();
  }
  return values;
}

SweepRun run_of(const SweepPlan& plan, std::size_t index) {
  SweepRun run;
  run.values = values_of(plan.axes, index);
  for (std::size_t axis = 0; axis < plan.axes.size(); ++axis) {
    run.name += (run.name.empty() ? "" : "_") + file_text(plan.labels[axis]) + "=" +
                file_text(run.values[axis]);
  }
  constexpr std::size_t longest = 180;  // of a file's name, with what is added behind: 255
  if (run.name.size() > longest) {
    run.name = shortened(run.name, longest, run.name);
  }
  return run;
}

void add_seed(SweepRun& run, std::uint64_t seed) {
  run.seed = seed;
  run.name += fmt::format("{}seed={}", run.name.empty() ? "" : "_", seed);
}

}  // namespace

std::vector<std::string> SweepPlan::overrides_of(std::size_t run) const {
  std::vector<std::string> overrides = fixed;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    overrides.push_back(axes[axis].key + "=" + runs[run].values[axis]);
  }
  return overrides;
}

std::vector<std::string> SweepPlan::overrides_with_seed(std::size_t run) const {
  std::vector<std::string> overrides = overrides_of(run);
  if (runs[run].seed) {
    overrides.push_back(fmt::format("seed={}", *runs[run].seed));
  }
  return overrides;
}

SweepPlan sweep_plan(const std::vector<std::string>& words, std::int64_t seeds,
                     std::uint64_t first_seed) {
  SweepPlan plan;
  plan.seeds = seeds;
  std::size_t settings = 1;
  for (SweepAxis& axis : axes_from(words)) {
    if (axis.key == "seed" && seeds > 1) {
      throw UsageError("give seeds either as seed=1,2,3 or with --seeds");
    }
    if (axis.values.size() == 1) {
      plan.fixed.push_back(axis.key + "=" + axis.values.front());
    } else {
      plan.axes.push_back(std::move(axis));
    }
  }
  refuse_too_many(plan.axes, seeds);
  for (const SweepAxis& axis : plan.axes) {
    settings *= axis.values.size();
  }
  if (settings == 1 && seeds == 1) {
    throw UsageError(
        "there is nothing to sweep over; give the values of a key as key.path=a,b,c, such as "
        "optimizer.learning_rate=1e-3,1e-2, or several --seeds");
  }
  plan.labels = labels_of(plan.axes);
  for (std::size_t index = 0; index < settings; ++index) {
    for (std::int64_t i = 0; i < seeds; ++i) {
      plan.runs.push_back(run_of(plan, index));
      if (seeds > 1) {
        add_seed(plan.runs.back(), first_seed + static_cast<std::uint64_t>(i));
      }
    }
  }
  return plan;
}

}  // namespace zygos::app
