// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/plan/profile_cache.hpp"

#include "app/plan/link_precision.hpp"
#include "app/plan/policy_choice.hpp"
#include "app/run/fed_samples.hpp"
#include "app/signals.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/batching.hpp"
#include "zygos/io/hash.hpp"
#include "zygos/measure/refinement.hpp"
#include "zygos/plan/assumed_profile.hpp"
#include "zygos/plan/profile_store.hpp"
#include "zygos/plan/slice_factors.hpp"
#include "zygos/policies/policies.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <functional>
#include <limits>
#include <memory>
#include <span>

namespace zygos::app {

namespace {

namespace fs = std::filesystem;

/// What the numbers depend on beside the machine. Points are measured at parts of the batch, and
/// budgets decide which of them fit.
plan::Facts run_facts(const RunSetup& setup) {
  std::string budgets;
  for (std::size_t place = 0; place < setup.lanes->size(); ++place) {
    budgets +=
        fmt::format("{}{}", budgets.empty() ? "" : ", ", (*setup.lanes)[place].spec().budget_bytes);
  }
  plan::Facts facts{{"batch", std::to_string(setup.trainer.batch)},
                    {"strict mode's chunk", std::to_string(setup.chunk)},
                    {"lanes' budgets", budgets}};
  if (!setup.activations.text.empty()) {
    facts.emplace_back("memory plan", setup.activations.text);
  }
  if (const std::string links = text_of(setup.codecs); !links.empty()) {
    facts.emplace_back("link precision", links);
  }
  if (setup.accumulate > 0) {
    facts.emplace_back("micro-batches", std::to_string(setup.accumulate));
  }
  if (setup.disk_bytes_per_second > 0.0) {
    facts.emplace_back("disk's bytes a second", fmt::format("{}", setup.disk_bytes_per_second));
  }
  return facts;
}

plan::Facts facts_of(const RunSetup& setup) {
  const std::string clips = setup.optimizer->clip_norm() ? " that clips" : "";
  plan::Facts facts = plan::identity_of(*setup.graph, std::string(setup.optimizer->type()) + clips,
                                        *setup.lanes, setup.dtype, setup.tf32);
  const plan::Facts more = run_facts(setup);
  facts.insert(facts.end(), more.begin(), more.end());
  return facts;
}

std::string now_text() { return fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr))); }

/// True if running the schedule would tell the profile something of its layers or their slices.
bool is_worth_measuring(const schedule::Schedule& schedule, const train::Policy& policy,
                        const plan::Profile& profile) {
  // Places that take turns on a lane say nothing of whole layers.
  return schedule.slices.empty() ? policy.needs_profile() && schedule.further_lanes.empty()
                                 : plan::has_unmeasured_slices(schedule, profile);
}

/// What is chosen from the profile is worth a look at what it really takes: the candidates of all
/// policies that ask for a profile are measured themselves and join it, as do the first that have
/// slices of a layer.
void refine(RunSetup& setup, const measure::ProfileRequest& request, plan::Profile& profile) {
  measure::Refinement refinement(request, profile);
  for (const train::PolicyEntry& entry : policies::registry()) {
    try {
      const auto policy = policy_of(setup, {entry.schema.name(), {}});
      if (policy->chosen_by_planner()) {
        continue;
      }
      for (const auto& options : policy->candidates(setup.problem(), &profile)) {
        const auto choice = policy_of(setup, {entry.schema.name(), options});
        const schedule::Schedule made = choice->schedule(setup.problem(), &profile);
        if (is_worth_measuring(made, *policy, profile)) {
          refinement.add(made);
        }
      }
    } catch (const UsageError&) {
      // It can't run here, as a plan will say where one is asked for.
    }
  }
  refinement.repeat();
}

/// Batches as training takes them, without an end but for a stop. `setup` must outlive them.
std::function<train::Batch()> endless_batches(const RunSetup& setup) {
  auto samples = std::make_shared<FedSamples>(setup, FedSamples::Looks::no);
  samples->seek(1, std::numeric_limits<std::int64_t>::max());
  return [samples, signals = setup.signals] {
    if (signals != nullptr && signals->stop_requested()) {
      throw StoppedEarly();
    }
    return samples->next();
  };
}

void keep(const RunSetup& setup, const plan::Profile& profile, Console& console) {
  const auto file = profile_file(setup);
  if (!file) {
    return console.detail("neither XDG_CACHE_HOME nor HOME is set: the profile is not kept");
  }
  try {
    fs::create_directories(file->parent_path());
    plan::save_profile(*file, profile, facts_of(setup), now_text());
    console.detail("kept the profile in " + file->string());
  } catch (const std::exception& error) {
    console.detail(fmt::format("the profile is not kept: {}", error.what()));
  }
}

}  // namespace

std::optional<fs::path> profile_file(const RunSetup& setup) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  fs::path folder;
  if (cache != nullptr && *cache == '/') {
    folder = cache;
  } else if (home != nullptr && *home == '/') {
    folder = fs::path(home) / ".cache";
  } else {
    return std::nullopt;
  }
  // The machine is not in the name: a home that several machines share has one file for all, and
  // the one it does not fit says so.
  std::string key;
  plan::Facts facts = facts_of(setup);
  for (std::size_t i = plan::machine_fingerprint().size(); i < facts.size(); ++i) {
    key += facts[i].first + "=" + facts[i].second + "\n";
  }
  const std::string name =
      fmt::format("{}-{}.json", setup.name, io::xxh64_hex(std::as_bytes(std::span(key))));
  return folder / "zygos" / "profiles" / name;
}

std::optional<plan::Profile> kept_profile(const RunSetup& setup, Console& console) {
  const auto file = profile_file(setup);
  if (!file || !fs::is_regular_file(*file)) {
    return std::nullopt;
  }
  try {
    plan::Profile profile = plan::load_profile(*file, facts_of(setup));
    plan::assume_file_costs(profile, setup.disk_bytes_per_second);
    return profile;
  } catch (const Error& error) {
    console.note(fmt::format("measuring anew: {}", error.what()));
    return std::nullopt;
  }
}

plan::Profile profile_of(RunSetup& setup, bool fresh, Console& console) {
  if (!fresh) {
    if (auto kept = kept_profile(setup, console)) {
      console.detail("the lanes' profile is from " + profile_file(setup)->string() +
                     "; --fresh-profile measures anew");
      return std::move(*kept);
    }
  }
  console.status("measuring the lanes ...");
  const LogSink progress = [&](LogLevel level, std::string_view line) {
    if (level == LogLevel::debug) {
      console.status(fmt::format("measuring the lanes ... {}", line));
    } else {
      console.detail(line);
    }
  };
  const measure::ProfileRequest request = profile_request(setup, progress);
  plan::Profile profile = measure::measure_profile(request);
  refine(setup, request, profile);
  keep(setup, profile, console);
  return profile;
}

measure::ProfileRequest profile_request(RunSetup& setup, const LogSink& log) {
  const auto rows = io::rows_of(setup.first_samples);
  return {.graph = *setup.graph,
          .optimizer = *setup.optimizer,
          .lanes = *setup.lanes,
          .target = setup.target,
          .options = setup.engine_options(),
          .batch = {rows.inputs, rows.targets, setup.first_batch},
          .log = log,
          .chunk = setup.chunk,
          .accumulate = setup.accumulate,
          .batch_slots = setup.batch_slots(),
          .next = endless_batches(setup),
          .activations = setup.activations.nodes,
          .prefetch = setup.activations.prefetch,
          .codecs = setup.codecs,
          .disk_bytes_per_second = setup.disk_bytes_per_second};
}

}  // namespace zygos::app
