// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/data_spec.hpp"
#include "deck/frozen_layers.hpp"
#include "deck/layer_specs.hpp"
#include "deck/read/text.hpp"

#include "zygos/deck/run_schema.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

namespace zygos::deck {
namespace {

DType precision_of(const std::string& name) {
  if (name == "bf16") {
    return DType::bf16;
  }
  return name == "float64" ? DType::f64 : DType::f32;
}

PretrainedSpec pretrained_of(const Section& section, const std::vector<LayerSpec>& layers,
                             Findings& findings) {
  constexpr std::string_view arrow = "->";
  PretrainedSpec spec{.file = section.path("file"),
                      .in_order = section.text("match") == "order",
                      .by_operators = section.text("match") == "operators",
                      .renamings = {},
                      .partial = section.boolean("partial"),
                      .position = section.position("file")};
  for (const std::string& text : section.texts("rename")) {
    const auto at = text.find(arrow);
    const std::string from(trimmed(std::string_view(text).substr(0, at)));
    const std::string to(at == std::string::npos
                             ? std::string_view()
                             : trimmed(std::string_view(text).substr(at + arrow.size())));
    if (from.empty() || to.empty()) {
      findings.error(section.position("rename"), in_quotes(text) + " renames nothing",
                     "write 'module -> layer', as in 'features.0 -> conv1'");
      continue;
    }
    spec.renamings.push_back({from, to});
  }
  read_freeze(section, layers, spec, findings);
  return spec;
}

ModelSpec model_of(const Section& section, Findings& findings) {
  ModelSpec model;
  model.position = section.position();
  model.loss = section.section("loss");
  if (section.has("input")) {
    model.input = section.integers("input");
  }
  model.layers = layer_specs(section, findings);
  model.frozen = frozen_repetitions(section, model.layers);
  if (section.has("pretrained")) {
    model.pretrained = pretrained_of(section.section("pretrained"), model.layers, findings);
  }
  return model;
}

LaneKind kind_of(const std::string& word) {
  return word == "host"       ? LaneKind::host
         : word == "emulated" ? LaneKind::emulated
         : word == "device"   ? LaneKind::device
                              : LaneKind::automatic;
}

/// Whether the key says more than its default does: a resolved deck writes every default out.
bool says_something(const Section& lane, std::string_view key) {
  if (lane.origin(key) == Origin::fallback) {
    return false;
  }
  if (key == "link") {
    const Section link = lane.section("link");
    return !link.is_word("bandwidth", "unlimited") || link.seconds("latency") > 0.0;
  }
  if (key == "device_id") {
    return lane.integer(key) != 0;
  }
  if (key == "unified") {
    return lane.boolean(key);
  }
  return key == "threads" ? !lane.is_word(key, "auto") : lane.text(key) != "openmp";
}

/// Keys that a lane of this kind would silently ignore.
void refuse_idle_keys(const Section& lane, LaneKind kind, Findings& findings) {
  std::vector<std::pair<const char*, const char*>> idle;
  if (kind == LaneKind::host || kind == LaneKind::device) {
    idle = {{"link", "emulated"}, {"unified", "emulated"}};
  }
  if (kind == LaneKind::device) {
    idle.insert(idle.end(), {{"threads", "host or emulated"}, {"space", "host or emulated"}});
  }
  if (kind == LaneKind::host || kind == LaneKind::emulated) {
    idle.emplace_back("device_id", "device");
  }
  for (const auto& [key, owner] : idle) {
    if (says_something(lane, key)) {
      findings.error(
          lane.position(key),
          "'" + std::string(key) + "' has no effect on a lane of kind " + lane.text("kind"),
          "it is for lanes of kind " + std::string(owner) + "; remove it");
    }
  }
  if (lane.boolean("unified") && says_something(lane, "link")) {
    findings.error(lane.position("link"), "a unified lane has no link",
                   "nothing is copied to memory that the host shares; remove 'link' or 'unified'");
  }
  const bool serial = lane.text("space") == "serial";
  const bool many = !lane.is_word("threads", "auto") && lane.integer("threads") > 1;
  if (serial && many) {
    findings.error(lane.position("threads"), "a serial lane has one thread",
                   "remove 'threads', or set 'space: openmp'");
  }
}

LaneSpec lane_of(const Section& section, Findings& findings) {
  LaneSpec lane;
  lane.name = section.name();
  lane.position = section.position();
  lane.kind = kind_of(section.text("kind"));
  lane.serial = section.text("space") == "serial";
  if (!section.is_word("threads", "auto")) {
    lane.threads = static_cast<int>(section.integer("threads"));
  }
  if (!section.is_word("memory", "unlimited")) {
    lane.memory_bytes = section.bytes("memory");
  }
  const Section link = section.section("link");
  if (!link.is_word("bandwidth", "unlimited")) {
    lane.link_bytes_per_second = link.bytes_per_second("bandwidth");
  }
  lane.link_latency_s = link.seconds("latency");
  lane.unified = section.boolean("unified");
  lane.slowdown = section.real("slowdown");
  lane.device_id = static_cast<int>(section.integer("device_id"));
  refuse_idle_keys(section, lane.kind, findings);
  return lane;
}

/// One lane keeps its name, several get numbers.
void add_copies(const LaneSpec& lane, std::int64_t count, std::vector<LaneSpec>& lanes) {
  for (std::int64_t i = 0; i < count; ++i) {
    LaneSpec copy = lane;
    if (count > 1) {
      copy.name += std::to_string(i);
      copy.device_id += static_cast<int>(i);
    }
    lanes.push_back(std::move(copy));
  }
}

void refuse_same_names(const std::vector<LaneSpec>& lanes, Findings& findings) {
  std::set<std::string> names;
  for (const LaneSpec& lane : lanes) {
    if (!names.insert(lane.name).second) {
      findings.error(lane.position, "there are two lanes called '" + lane.name + "'",
                     "'count' numbers the lanes of a description from 0; rename one of them");
    }
  }
}

std::vector<LaneSpec> lanes_of(const Section& root, Findings& findings) {
  std::vector<LaneSpec> lanes;
  const LaneSpec* host = nullptr;
  for (const Section& section : root.sections("lanes")) {
    add_copies(lane_of(section, findings), section.integer("count"), lanes);
  }
  refuse_same_names(lanes, findings);
  if (lanes.empty()) {
    findings.error(root.position("lanes"), "'lanes' has no lane",
                   "name at least one, or leave 'lanes' out for a host and a device");
  }
  for (const LaneSpec& lane : lanes) {
    if (lane.kind != LaneKind::host) {
      continue;
    }
    if (host != nullptr) {
      findings.error(lane.position,
                     "lane '" + lane.name + "' is the second host lane after '" + host->name + "'",
                     "a run has one; make this one 'emulated'");
    }
    host = &lane;
  }
  return lanes;
}

Every every_of(const Section& section, std::string_view key) {
  Every every;
  if (section.is_word(key, "never")) {
    return every;
  }
  const Quantity quantity = section.quantity(key);
  switch (quantity.unit) {
    case Unit::steps:
      every.steps = static_cast<std::int64_t>(quantity.value);
      break;
    case Unit::epochs:
      every.epochs = static_cast<std::int64_t>(quantity.value);
      break;
    default:
      every.seconds = quantity.value;
  }
  return every;
}

void refuse_unknown_metrics(const Section& section, const std::vector<std::string>& found,
                            Findings& findings) {
  const std::vector<std::string> known{"mae",      "rmse",      "r2",       "top5",
                                       "macro_f1", "confusion", "per_class"};
  for (const std::string& name : found) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      findings.error(section.position("metrics"), "there is no metric " + in_quotes(name),
                     suggestion(name, known));
    }
  }
}

void refuse_many_micro_batches(const Section& section, const TrainSpec& train, Findings& findings) {
  if (*train.accumulate > train.batch) {
    findings.error(section.position("accumulate"),
                   "'accumulate' divides a batch of " + std::to_string(train.batch) +
                       " samples into " + std::to_string(*train.accumulate) + " micro-batches",
                   "each has a sample at least: set 'accumulate' to 1 to " +
                       std::to_string(train.batch) + ", or raise 'batch'");
  }
}

TrainSpec train_of(const Section& section, Findings& findings) {
  TrainSpec train;
  if (section.has("epochs")) {
    train.epochs = section.integer("epochs");
  }
  if (section.has("steps")) {
    train.steps = section.integer("steps");
  }
  if (train.epochs && train.steps) {
    findings.error(section.position("steps"), "'train' has both 'epochs' and 'steps'",
                   "keep one of them; on the command line one replaces the other of the deck");
  }
  if (!train.epochs && !train.steps) {
    findings.error(section.position(), "missing key 'epochs' or 'steps' in 'train'",
                   "add 'epochs: 10'");
  }
  train.batch = section.integer("batch");
  if (section.has("accumulate")) {
    train.accumulate = section.integer("accumulate");
    refuse_many_micro_batches(section, train, findings);
  }
  train.shuffle = section.boolean("shuffle");
  train.drop_last = section.boolean("drop_last");
  if (!section.is_word("double_buffer", "auto")) {
    train.double_buffer = section.boolean("double_buffer");
  }
  if (section.is_word("strict", "auto")) {
    train.chunk = (train.batch + 15) / 16;
  } else if (!section.is_word("strict", "off")) {
    train.chunk = std::min(section.integer("strict"), train.batch);
  }
  train.report = every_of(section, "report_every");
  train.evaluate = every_of(section, "evaluate_every");
  train.peer_timeout_s = section.is_word("peer_timeout", "never")
                             ? std::numeric_limits<double>::infinity()
                             : section.seconds("peer_timeout");
  train.batch_position = section.position("batch");
  train.metrics = section.texts("metrics");
  train.metrics_position = section.position("metrics");
  refuse_unknown_metrics(section, train.metrics, findings);
  if (section.has("patience")) {
    train.patience = section.integer("patience");
    train.patience_position = section.position("patience");
  }
  train.min_improvement = section.real("min_improvement");
  train.best_by = section.text("best_by");
  train.best_by_position = section.position("best_by");
  train.restore_best = section.boolean("restore_best");
  train.restore_best_position = section.position("restore_best");
  return train;
}

CheckpointSpec checkpoint_of(const Section& section) {
  using Copy = CheckpointSpec::Copy;
  const std::string& copy = section.text("copy");
  return {.every = every_of(section, "every"),
          .keep = static_cast<int>(section.integer("keep")),
          .keep_best = static_cast<int>(section.integer("keep_best")),
          .failures = static_cast<int>(section.integer("failures")),
          .background = section.boolean("background"),
          .keep_best_position = section.position("keep_best"),
          .copy = copy == "whole"      ? Copy::whole
                  : copy == "streamed" ? Copy::streamed
                                       : Copy::automatic,
          .copy_position = section.position("copy")};
}

MemoryPlanSpec memory_plan_of(const Section& section, Findings& findings) {
  using Activations = MemoryPlanSpec::Activations;
  MemoryPlanSpec plan;
  const std::string& word = section.text("activations");
  plan.activations = word == "recompute" ? Activations::recompute
                     : word == "offload" ? Activations::offload
                     : word == "spill"   ? Activations::spill
                     : word == "auto"    ? Activations::automatic
                                         : Activations::keep;
  plan.prefetch = static_cast<int>(section.integer("prefetch"));
  if (!section.is_word("host_memory", "unlimited")) {
    plan.host_memory_bytes = section.bytes("host_memory");
  }
  if (section.has("folder")) {
    plan.folder = section.text("folder");
  }
  if (!section.is_word("disk_bandwidth", "unknown")) {
    plan.disk_bytes_per_second = section.bytes_per_second("disk_bandwidth");
  }
  const auto lists = {
      std::tuple("recompute", &MemoryPlanSpec::recompute, &MemoryPlanSpec::recompute_position),
      std::tuple("offload", &MemoryPlanSpec::offload, &MemoryPlanSpec::offload_position),
      std::tuple("spill", &MemoryPlanSpec::spill, &MemoryPlanSpec::spill_position)};
  for (const auto& [key, layers, position] : lists) {
    if (!section.has(key)) {
      continue;
    }
    plan.*layers = section.texts(key);
    plan.*position = section.position(key);
    if (plan.activations != Activations::keep) {
      findings.error(section.position(key),
                     "'memory_plan' names layers in '" + std::string(key) +
                         "' and says what becomes of all in 'activations: " + word + "'",
                     "keep one of them");
    }
  }
  return plan;
}

LinkPrecisionSpec link_precision_of(const Section& section, bool strict, Findings& findings) {
  const auto is_bf16 = [&](const char* key) {
    const bool rounded = section.text(key) == "bf16";
    if (rounded && strict) {
      findings.error(section.position(key),
                     "'link_precision." + std::string(key) +
                         ": bf16' rounds what crosses from lane to lane, and 'train.strict' "
                         "promises the bits of a run on one lane",
                     "leave one of them out");
    }
    return rounded;
  };
  return {is_bf16("gradients"), is_bf16("activations"), is_bf16("activation_gradients")};
}

void check_name(const Section& root, Findings& findings) {
  const std::string& name = root.text("name");
  const bool fine = !name.empty() && name.front() != '.' && name.size() <= 200 &&
                    std::all_of(name.begin(), name.end(), [](char c) {
                      return is_name("x" + std::string(1, c)) || c == '.' || c == ' ' || c == '+';
                    });
  if (!fine) {
    findings.error(root.position("name"), "the name " + in_quotes(name) + " can't name a folder",
                   "set 'name' to letters, digits, '_', '-' and '.'");
  }
}

/// By convention a policy's option `lane` names a lane.
void check_policy_lane(const Section& policy, const std::vector<LaneSpec>& lanes,
                       Findings& findings) {
  if (!policy.has("lane")) {
    return;
  }
  std::vector<std::string> names;
  for (const LaneSpec& lane : lanes) {
    names.push_back(lane.name);
  }
  const std::string& wanted = policy.text("lane");
  if (std::find(names.begin(), names.end(), wanted) == names.end()) {
    findings.error(policy.position("lane"), "there is no lane " + in_quotes(wanted),
                   suggestion(wanted, names));
  }
}

}  // namespace

void refuse_strict_tf32(const Section& root, const RunSpec& run, const std::string& lane,
                        Findings& findings) {
  if (run.tf32 && run.train.chunk > 0) {
    findings.error(root.position("precision"),
                   "'precision: tf32' rounds products on the device lane '" + lane +
                       "', and 'train.strict' promises the bits of a run on one lane",
                   "take float32, or leave 'train.strict' out");
  }
}

RunSpec run_spec(const Deck& deck) {
  const Section& root = deck.root();
  Findings findings = deck.findings();
  RunSpec run;
  check_name(root, findings);
  run.name = root.text("name");
  run.seed = static_cast<std::uint64_t>(root.integer("seed"));
  run.precision = precision_of(root.text("precision"));
  run.data = data_of(root.section("data"));
  run.model = model_of(root.section("model"), findings);
  run.optimizer = root.section("optimizer");
  run.policy = root.section("policy");
  run.lanes = lanes_of(root, findings);
  check_policy_lane(run.policy, run.lanes, findings);
  run.train = train_of(root.section("train"), findings);
  run.tf32 = root.text("precision") == "tf32";
  run.device_graphs = root.boolean("device_graphs");
  for (const LaneSpec& lane : run.lanes) {
    if (lane.kind == LaneKind::device) {
      refuse_strict_tf32(root, run, lane.name, findings);
    }
  }
  run.memory_plan = memory_plan_of(root.section("memory_plan"), findings);
  run.link_precision =
      link_precision_of(root.section("link_precision"), run.train.chunk > 0, findings);
  run.checkpoint = checkpoint_of(root.section("checkpoint"));
  if (root.has("run_dir")) {
    run.run_dir = root.path("run_dir");
  }
  findings.throw_if_any();
  return run;
}

}  // namespace zygos::deck
