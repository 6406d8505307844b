// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The deck of a run. The deck module knows no layer, loss, optimizer or policy: their schemas come
// in as tables.
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/deck/deck.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace zygos::deck {

/// The value of `deck_version` that this library reads.
inline constexpr int current_deck_version = 1;

/// What a deck can name, one schema per keyword.
struct RunTables {
  std::vector<Schema> layers;
  std::vector<Schema> losses;
  std::vector<Schema> optimizers;
  std::vector<Schema> policies;
  std::vector<Schema> rate_schedules{};
};

/// The whole deck of a run.
Schema run_schema(const RunTables& tables);

enum class DataFormat {
  idx,
  hdf5,
  csv,
  npy,
  npz,
  cifar10,
  glyphs,
  synthetic,
  text,
  tokens,
  graph,
  power_law_graph
};

/// The arrays of one data set. Those of HDF5 and .npz have names.
struct DataFiles {
  std::filesystem::path inputs;
  std::filesystem::path targets;
  std::string inputs_dataset;
  std::string targets_dataset;
  Position inputs_position;
  Position targets_position;
};

/// Columns of a table, by names or by numbers from 1.
struct CsvSpec {
  std::vector<std::string> inputs;   ///< empty: all but the targets
  std::vector<std::string> targets;  ///< empty: the last one
  std::optional<bool> header;        ///< none: auto
};

struct GlyphSpec {
  std::int64_t samples = 60000;
  std::int64_t test_samples = 10000;
  std::int64_t size = 28;
  std::int64_t channels = 1;
  double jitter = 1.0;
  double noise = 0.25;
  std::uint64_t seed = 1;
};

struct SyntheticSpec {
  std::string function;
  std::int64_t samples = 10000;
  std::int64_t test_samples = 1000;
  std::int64_t size = 32;
  double noise = 0.0;
  std::uint64_t seed = 1;
};

struct TextSpec {
  std::filesystem::path file;
  Position file_position;
  std::string unit = "characters";  ///< or bytes, words
  std::int64_t max_words = 10'000;
  std::int64_t sequence = 128;
  std::int64_t stride = 0;  ///< 0: as the sequence
  double validation = 0.1;
};

struct TokenSpec {
  std::int64_t samples = 10'000;
  std::int64_t test_samples = 1'000;
  std::int64_t sequence = 128;
  std::int64_t vocabulary = 64;
  std::uint64_t seed = 1;
};

/// Of formats graph and power_law_graph.
struct GraphSpec {
  std::filesystem::path file;  ///< graph
  Position file_position;
  std::int64_t nodes = 2000;  ///< this and what follows: power_law_graph
  double mean_degree = 10.0;
  std::int64_t features = 32;
  double homophily = 0.8;
  double noise = 2.0;
  double training = 0.5;
  std::int64_t classes = 0;           ///< of either; 0: the largest label + 1
  std::vector<std::int64_t> fan_out;  ///< of either; empty: the whole graph is the sample
  std::int64_t draws = 1;
  std::uint64_t seed = 1;
};

/// What samples are brought to before a model sees them.
enum class Normalise { none, standard, minmax };

/// Random changes of training samples.
struct AugmentSpec {
  std::string flip;  ///< none, horizontal, vertical or both
  std::int64_t crop = 0;
  double noise = 0.0;
  Position flip_position;
  Position crop_position;
  Position noise_position;
};

struct DataSpec {
  DataFormat format = DataFormat::idx;
  DataFiles train;                ///< idx, hdf5, csv, npy, npz
  std::optional<DataFiles> test;  ///< likewise
  CsvSpec csv;
  std::filesystem::path folder;  ///< cifar10
  Position folder_position;
  GlyphSpec glyphs;
  SyntheticSpec synthetic;
  TextSpec text;
  TokenSpec tokens;
  GraphSpec graph;
  std::optional<double> scale;  ///< none: 1/255 for bytes, 1 otherwise
  double offset = 0.0;
  Normalise normalise = Normalise::none;
  std::optional<AugmentSpec> augment;
  double validation = 0.0;        ///< of files: share of the training samples; 0: none
  std::int64_t classes = 0;       ///< 0: the largest label + 1
  std::optional<bool> in_memory;  ///< hdf5; none: auto
  std::int64_t prefetch = 4;      ///< hdf5: batches read ahead
  Position position;
};

struct LayerSpec {
  std::string name;                 ///< given, or type and number: "dense1"; "repeat1.2.dense1"
  std::string type;                 ///< keyword in the layer table
  std::vector<std::string> inputs;  ///< names of layers or "input"; empty: the layer before
  Section options;                  ///< the layer's own keys, for its factory
  Position position;
  bool frozen = false;  ///< training leaves its parameters as they are

  /// The deck says `frozen: false` of it: what freezes layers together leaves it out.
  bool says_trained() const { return options.has("frozen") && !frozen; }
};

/// Layers that are frozen together: those of a repetition, or those that pretrained.freeze names.
struct FrozenLayers {
  std::string what;                 ///< for messages: "repetition 'block'", or "'conv*'"
  std::vector<std::string> layers;  ///< those that have parameters are frozen
  Position position;
};

/// Weights to begin with.
struct PretrainedSpec {
  struct Renaming {
    std::string from;
    std::string to;
  };
  std::filesystem::path file;  ///< or the folder of a run or checkpoint
  bool in_order = false;       ///< modules are matched by their order, not by their names
  bool by_operators = false;   ///< a model of ONNX: names are those that zygos import gives layers
  std::vector<Renaming> renamings;
  bool partial = false;
  bool freeze_loaded = false;          ///< all layers that get every parameter from the file
  std::vector<FrozenLayers> frozen{};  ///< or these
  Position freeze_position{};
  Position position;
};

struct ModelSpec {
  std::vector<std::int64_t> input;     ///< shape of one sample; empty: that of the data
  std::vector<LayerSpec> layers;       ///< what is repeated as often as it is
  Section loss;                        ///< text("type") is the keyword in the loss table
  std::vector<FrozenLayers> frozen{};  ///< repetitions
  std::optional<PretrainedSpec> pretrained{};
  Position position;
};

enum class LaneKind { host, emulated, device, automatic };

struct LaneSpec {
  std::string name;
  LaneKind kind = LaneKind::host;
  bool serial = false;                 ///< Serial instead of OpenMP
  std::optional<int> threads;          ///< none: auto
  std::size_t memory_bytes = 0;        ///< 0: unlimited
  double link_bytes_per_second = 0.0;  ///< 0: as fast as the memory
  double link_latency_s = 0.0;
  bool unified = false;
  double slowdown = 1.0;
  int device_id = 0;
  Position position;
};

/// A moment that recurs; exactly one is set, none: never.
struct Every {
  std::optional<std::int64_t> steps;
  std::optional<std::int64_t> epochs;
  std::optional<double> seconds;
};

struct TrainSpec {
  std::optional<std::int64_t> epochs;  ///< one of epochs and steps is set
  std::optional<std::int64_t> steps;
  std::int64_t batch = 0;
  std::optional<std::int64_t> accumulate{};  ///< micro-batches of a step; none: as the policy says
  bool shuffle = true;
  bool drop_last = false;
  std::optional<bool> double_buffer;  ///< none: auto
  std::int64_t chunk = 0;  ///< strict mode: samples whose gradients are summed as one; 0: off
  Every report;
  Every evaluate;
  double peer_timeout_s = 300.0;     ///< infinity: never
  std::vector<std::string> metrics;  ///< of evaluations
  Position metrics_position;
  std::optional<std::int64_t> patience;  ///< early stopping; none: never
  double min_improvement = 0.0;
  std::string best_by = "score";
  bool restore_best = false;
  Position patience_position;
  Position best_by_position;
  Position restore_best_position;
  Position batch_position;
};

/// What becomes of activations: all alike, or layers by name.
struct MemoryPlanSpec {
  enum class Activations : std::uint8_t { keep, recompute, offload, spill, automatic };
  Activations activations = Activations::keep;
  std::vector<std::string> recompute;
  std::vector<std::string> offload;
  std::vector<std::string> spill;
  int prefetch = 1;
  std::size_t host_memory_bytes = 0;   ///< 0: no budget
  std::filesystem::path folder;        ///< of spilled data; empty: that of the run
  double disk_bytes_per_second = 0.0;  ///< 0: not said
  Position recompute_position;
  Position offload_position;
  Position spill_position;
};

/// Messages that travel as bf16, by what they carry.
struct LinkPrecisionSpec {
  bool gradients = false;
  bool activations = false;
  bool activation_gradients = false;
};

struct CheckpointSpec {
  enum class Copy : std::uint8_t { automatic, whole, streamed };
  Every every;
  int keep = 3;
  int keep_best = 0;
  int failures = 3;  ///< in a row, with the last of which the run ends
  bool background = true;
  Position keep_best_position;
  Copy copy = Copy::automatic;
  Position copy_position;
};

/// A whole run as plain values. What a table contributed stays a Section for its factory.
struct RunSpec {
  std::string name;  ///< of the run: given, or the file's stem
  std::uint64_t seed = 1;
  DType precision = DType::f32;  ///< of activations; weights have wide(precision)
  bool tf32 = false;             ///< `precision: tf32`: f32, of which devices may round operands
  bool device_graphs = false;    ///< steps of device lanes are captured and launched as graphs
  DataSpec data;
  ModelSpec model;
  Section optimizer;  ///< text("type") is the keyword in the optimizer table; has("schedule"):
                      ///< section("schedule").text("type") is one in the table of schedules
  Section policy;     ///< text("type") is the keyword in the policy table
  std::vector<LaneSpec> lanes;
  TrainSpec train;
  MemoryPlanSpec memory_plan;
  LinkPrecisionSpec link_precision;
  CheckpointSpec checkpoint;
  std::optional<std::filesystem::path> run_dir;
};

/// Reads a deck that was checked against run_schema(). Throws DeckError for what only several keys
/// together show: both epochs and steps, an input that no layer has, options of the wrong kind of
/// lane.
RunSpec run_spec(const Deck& deck);

/// A finding if the run wants both strict mode and TF32, which lane `lane` has. run_spec() looks at
/// lanes that are devices by their deck; this is for one that turns out to be one.
void refuse_strict_tf32(const Section& root, const RunSpec& run, const std::string& lane,
                        Findings& findings);

}  // namespace zygos::deck
