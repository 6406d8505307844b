// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Factories of every policy, for programs that choose one in C++, and the registry for decks.
#pragma once

#include "zygos/train/policy.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zygos::policies {

/// The whole batch on one place.
struct SingleOptions {
  std::string place;  ///< lane name; empty: the first lane
  /// The gradient is summed over so many parts of the batch; none: plan::Problem::accumulate, or 1.
  std::optional<std::int64_t> micro_batches{};
};
train::PolicyPtr single(SingleOptions options);

/// Which layers make a stage, and which lane holds it.
struct StageOptions {
  std::vector<std::string> cuts;   ///< first layer of every stage but the first; empty: chosen
  std::vector<std::string> lanes;  ///< of the stages in their order; empty: all of the run's
};

/// Lanes that are one worker of a coarse split: its share of the batch goes through them in
/// micro-batches.
struct SplitPipelineOptions {
  StageOptions stages{};  ///< no lanes: all that are no host lanes
  /// Fewer where the share has fewer samples; none: plan::Problem::accumulate, or 8.
  std::optional<std::int64_t> micro_batches{};
  bool forwards_first = false;  ///< as gpipe; else as one_f_one_b
  bool recompute = false;       ///< activations for backward, instead of keeping them
};

/// Data parallel over unequal workers (policies.md 3.17): each trains its share of the batch,
/// gradients are summed exactly and all replicas update. A worker is a lane, or the lanes of a
/// pipeline. Of samples, share, shares and equal the first one given holds; none: chosen from the
/// profile so that a step is as short as can be.
struct CoarseSplitOptions {
  std::optional<double> share;          ///< of the first of two workers, 0 to 1
  std::optional<std::int64_t> samples;  ///< of the first of two workers, exact
  std::vector<double> shares{};         ///< by worker, in proportion; 0: takes no part
  bool equal = false;                   ///< the same for all workers
  std::optional<SplitPipelineOptions> pipeline{};
  /// Of each lane with the whole model, one after the other; fewer where its share has fewer
  /// samples. None: plan::Problem::accumulate, or 1.
  std::optional<std::int64_t> micro_batches{};
};
train::PolicyPtr coarse_split(CoarseSplitOptions options);

/// The layers divided between places; a batch goes through them in turn (policies.md 3.5).
struct LayerPlacementOptions {
  StageOptions stages;
};
train::PolicyPtr layer_placement(LayerPlacementOptions options);

/// Whose activations are computed once more in backward instead of being kept.
enum class Recompute : std::uint8_t {
  never,
  except_last,  ///< all micro-batches but the last
  always,
};

/// Micro-batches through stages, all forwards, then all backwards (policies.md 3.6).
struct GpipeOptions {
  std::optional<std::int64_t> micro_batches{};  ///< none: plan::Problem::accumulate, or 8
  Recompute recompute = Recompute::never;
  StageOptions stages;
};
train::PolicyPtr gpipe(GpipeOptions options);

/// Micro-batches through stages, each backward as early as can be, one update (1F1B with flush).
struct OneFOneBOptions {
  std::optional<std::int64_t> micro_batches{};  ///< as in GpipeOptions
  bool recompute = false;
  StageOptions stages;
};
train::PolicyPtr one_f_one_b(OneFOneBOptions options);

/// Replicas of a pipeline; stages exchange their gradients as soon as they are complete, one after
/// the other, while earlier stages still compute (policies.md 3.9).
struct HippieOptions {
  std::int64_t replicas = 2;  ///< of the pipeline, each with its share of the lanes
  /// Of each replica; none: plan::Problem::accumulate, or 4.
  std::optional<std::int64_t> micro_batches{};
  StageOptions stages;           ///< lanes: first those of the first replica
  std::vector<double> shares{};  ///< of the batch, by replica, in proportion; empty: equal
};
train::PolicyPtr hippie(HippieOptions options);

/// How workers sum their gradients.
enum class Exchange : std::uint8_t {
  ring,               ///< in buckets and chunks round a ring, overlapped with backward
  all_reduce,         ///< everyone reads everyone's and adds them up in the lanes' order
  central,            ///< on the first worker, which alone updates and hands out its weights
  sharded,            ///< like ring, but everyone updates a share of the weights and hands it out
  chunked_broadcast,  ///< as central, but weights go out in the next step, before forward passes
};

/// Replicas of the model that each train a share of the batch (policies.md 3.1).
struct DataParallelOptions {
  Exchange exchange = Exchange::sharded;  ///< strict mode: ring and sharded mean all_reduce
  std::vector<double> shares;             ///< by place, in proportion; empty: equal
  std::int64_t bucket_bytes = 25'000'000;
  /// Of each worker; none: plan::Problem::accumulate, or 1.
  std::optional<std::int64_t> micro_batches{};
  std::int64_t chunks = 0;  ///< of chunked_broadcast; 0: from a profile
};
train::PolicyPtr data_parallel(DataParallelOptions options);

/// Presets by the names of TensorFlow's strategies: data_parallel() with exchange all_reduce on the
/// lanes of one process, with exchange ring on those of all MPI ranks,
train::PolicyPtr mirrored();
train::PolicyPtr multi_worker_mirrored();
/// and with the variables on one lane, the server.
struct CentralStorageOptions {
  std::string server;          ///< lane; empty: the first that reads host memory itself
  bool server_trains = false;  ///< a share of the batch: data_parallel(); else as zero_offload()
  std::int64_t bucket_bytes = 25'000'000;
};
train::PolicyPtr central_storage(CentralStorageOptions options);

/// Replicas that exchange one bit an element once the optimizer of that name has frozen its
/// variance (policies.md 3.13).
struct OneBitAdamOptions {
  std::vector<double> shares;  ///< by place, in proportion; empty: equal
  std::int64_t bucket_bytes = 25'000'000;
};
train::PolicyPtr one_bit_adam(OneBitAdamOptions options);

/// Pairs of dense layers cut by columns, then by rows, between the lanes (Megatron's MLP block).
struct TensorParallelOptions {
  std::vector<double> shares;      ///< of the units between them, by lane, in proportion; empty:
                                   ///< equal
  bool by_profile = false;         ///< in place of these: so that a step is as short as can be
  std::vector<std::string> lanes;  ///< in the order of the slices; empty: all of the run's
};
train::PolicyPtr tensor_parallel(TensorParallelOptions options);

/// The first layers data parallel, the later ones tensor parallel ("one weird trick").
struct HybridConvFcOptions {
  /// Whose samples the later layers work on at a time: those of one lane (scheme b of the paper),
  /// or of all lanes together (scheme a; with several turns scheme c).
  enum class Exchange { in_turns, all_gather };

  std::string cut_from;            ///< the first layer that is cut; empty: the first of which the
                                   ///< batch's inputs are fewer than its parameters
  std::int64_t turns = 1;          ///< in which a lane sends the activations of its samples
  std::vector<std::string> lanes;  ///< in the order of samples and slices; empty: all of the run's
  Exchange exchange = Exchange::in_turns;
};
train::PolicyPtr hybrid_conv_fc(HybridConvFcOptions options);

/// Micro-batches with an update each, and weights stashed for those under way (policies.md 3.7).
struct PipeDreamOptions {
  std::int64_t micro_batches = 8;
  std::vector<std::int64_t> replicas;  ///< lanes of each stage; empty: one
  bool vertical_sync = false;          ///< one version for a micro-batch on all stages
  std::int64_t average_every = 0;      ///< steps between means of the kept versions; 0: never
  StageOptions stages;
  schedule::Tier stash =
      schedule::Tier::lane;  ///< where versions rest that are not the current one; file: of lanes
                             ///< that would hold more than two
};
train::PolicyPtr pipedream(PipeDreamOptions options);

/// Updates of several micro-batches, one update late, with two versions of the weights.
struct PipeDream2bwOptions {
  std::int64_t updates = 4;
  std::int64_t accumulate = 0;  ///< micro-batches of an update; 0: as many as stages
  StageOptions stages;
  schedule::Tier stash = schedule::Tier::lane;  ///< where the older version rests; not in a file
};
train::PolicyPtr pipedream_2bw(PipeDream2bwOptions options);

/// One place owns optimizer states and updates, the others compute (policies.md 3.12).
struct ZeroOffloadOptions {
  std::string owner;  ///< lane; empty: the first that reads host memory itself
  std::int64_t bucket_bytes = 25'000'000;
  schedule::Tier weights = schedule::Tier::lane;  ///< host: workers have them only while in use
  /// Where gradients are clipped: buckets are updated before the norm is known, and once more if it
  /// is above its limit. Empty: they are with weights that rest in the host's memory alone, unless
  /// states rest in a file.
  std::optional<bool> speculate{};
  schedule::Tier states = schedule::Tier::host;  ///< file: those of the owner, but in use
};
train::PolicyPtr zero_offload(ZeroOffloadOptions options);

/// zero_offload() of which the first layers are updated where they are computed (policies.md 3.14).
struct CoTrainOptions {
  std::string owner;  ///< as in ZeroOffloadOptions
  std::int64_t bucket_bytes = 25'000'000;
  /// With parameters; a fraction is a share of the next one's elements. Empty: from a profile.
  std::optional<double> device_layers;
  std::optional<bool> speculate{};               ///< as in ZeroOffloadOptions
  schedule::Tier states = schedule::Tier::host;  ///< likewise
};
train::PolicyPtr cotrain(CoTrainOptions options);

/// What find_ways() recommends among these (keywords; empty: all that do not change what is
/// learnt), whatever memory it takes; ways.hpp has the search that asks for the memory, too.
train::PolicyPtr automatic(std::vector<std::string> among = {}, std::int64_t trials = 0);

std::vector<train::PolicyEntry> registry();

}  // namespace zygos::policies
