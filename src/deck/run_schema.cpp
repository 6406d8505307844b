// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/deck/run_schema.hpp"

#include "deck/data_schema.hpp"
#include "deck/describe/describe.hpp"
#include "deck/model_schema.hpp"

namespace zygos::deck {
namespace {

std::vector<Schema> with_optimizer_keys(const RunTables& tables) {
  std::vector<Schema> optimizers = tables.optimizers;
  for (Schema& optimizer : optimizers) {
    if (!tables.rate_schedules.empty()) {
      optimizer
          .variant("schedule", "type", tables.rate_schedules,
                   "Learning rate schedule: how the rate changes with time; default: it stays.")
          .optional()
          .example("{type: cosine, length: 10 epochs, warm_up: 1 epoch}");
    }
  }
  return optimizers;
}

Schema link_schema() {
  Schema schema("link", "Link model, of the way between host and an emulated device.");
  schema
      .quantity("bandwidth", Unit::bandwidth,
                "Bandwidth in bytes a second; unlimited: as the memory.")
      .in_range(1, 1e15)
      .or_word("unlimited")
      .fallback("unlimited");
  schema.quantity("latency", Unit::seconds, "Latency: time a copy takes at least.")
      .in_range(0, 60)
      .fallback("0 s");
  return schema;
}

Schema lane_schema() {
  Schema schema("lane", "An execution space with its own memory and driver thread.");
  schema
      .choice("kind", {"host", "emulated", "device", "auto"},
              "Kind of lane; host: the processor; emulated: a second host instance with memory of "
              "its own, behind a modelled link; device: a GPU; auto: a GPU if this build and "
              "machine have one, else emulated.")
      .required();
  schema.choice("space", {"openmp", "serial"}, "Execution space of a host or emulated lane.")
      .fallback("openmp");
  schema
      .integer("threads",
               "Number of threads of a host or emulated lane; auto: the cores shared out.")
      .in_range(1, 512)  // what Kokkos' OpenMP space has room for
      .or_word("auto")
      .fallback("auto");
  schema.quantity("memory", Unit::bytes, "Memory budget for everything a run keeps on the lane.")
      .above(0)
      .or_word("unlimited")
      .fallback("unlimited")
      .example("2 GiB");
  schema.section("link", link_schema());
  schema
      .boolean("unified",
               "Unified memory: whether an emulated lane reads host memory where it lies, as an "
               "APU does: nothing is copied, and there is no link.")
      .fallback(false);
  schema.real("slowdown", "Slowdown factor that stretches the computing of the lane.")
      .in_range(1, 1e6)
      .fallback(1.0);
  schema.integer("device_id", "Device ID: number of the GPU.").in_range(0, 1023).fallback(0);
  schema
      .integer("count",
               "Number of lanes of this description; more than one are named <name>0, <name>1 and "
               "so on, GPUs numbered from device_id.")
      .in_range(1, 1024)
      .fallback(1)
      .example("4");
  return schema;
}

Key& add_every(Schema& schema, const char* name, const char* doc) {
  return schema.quantity(name, {Unit::steps, Unit::epochs, Unit::seconds}, doc)
      .above(0)
      .at_most(1e15)
      .or_word("never");
}

void add_batch_keys(Schema& schema) {
  schema.integer("batch", "Batch size: samples of a step.")
      .in_range(1, 1e9)
      .required()
      .example("100");
  schema
      .integer("accumulate",
               "Gradient accumulation: a step's batch is computed as so many micro-batches one "
               "after the other, whose gradients are added before the one update; the same "
               "gradient with the activations of one micro-batch in memory. `batch` stays the "
               "samples of a step. Where the policy divides the batch between lanes, each lane's "
               "share is computed so. Default: as the policy's `micro_batches` says.")
      .in_range(1, 1e9)
      .optional()
      .example("4");
  schema.boolean("shuffle", "Shuffling: whether every epoch has its own order.").fallback(true);
  schema
      .boolean("drop_last",
               "Dropping of the last batch: whether an epoch's incomplete one is left out.")
      .fallback(false);
  schema
      .boolean("double_buffer",
               "Double buffering: whether the next step's batch is gathered and copied to lanes "
               "with memory of their own while this step computes. Takes a second buffer for the "
               "batch there, and changes no bit. auto: where a lane is a GPU.")
      .or_word("auto")
      .fallback("auto");
  schema
      .integer("strict",
               "Strict mode, with so many samples a chunk: gradients are summed chunk by chunk in "
               "a fixed tree, so no synchronous policy changes a bit of the result; auto: a "
               "sixteenth of the batch.")
      .in_range(1, 1e9)
      .or_word("off")
      .or_word("auto")
      .fallback("off")
      .example("auto");
}

void add_keys_of_the_best_evaluation(Schema& schema) {
  schema
      .texts("metrics",
             "Metrics: figures of an evaluation beside its loss and score: mae, rmse and r2 of "
             "numbers, in "
             "their own units; top5 and macro_f1 of labels; per_class: precision, recall and F1 of "
             "every class; confusion: the matrix of labels and predictions.")
      .fallback("[]")
      .example("[mae, r2]");
  schema
      .integer("patience",
               "Early stopping patience: training ends after so many evaluations in a row of which "
               "none is better than the best one before, by `best_by`. Default: it does not.")
      .in_range(1, 1e9)
      .optional()
      .example("10");
  schema
      .real("min_improvement",
            "Minimum improvement, for patience: more than so much counts as better.")
      .at_least(0.0)
      .fallback(0.0);
  schema
      .choice("best_by", {"score", "loss", "mae", "rmse", "r2", "top5", "macro_f1"},
              "Best evaluation, for patience, restore_best and checkpoint.keep_best: that of the "
              "largest score (the loss where there is none), r2, top5 or macro_f1, or of the "
              "smallest loss, mae or rmse.")
      .fallback("score");
  schema
      .boolean(
          "restore_best",
          "Best weights: whether a run ends with those of its best evaluation: every one that is "
          "the best so far writes a checkpoint, and the last checkpoint is that of the best one.")
      .fallback(false);
}

Schema train_schema() {
  Schema schema("train", "Training: how long, in what batches, and what is evaluated on the way.");
  schema
      .integer("epochs", "Number of epochs: passes over the training data; either this or `steps`.")
      .in_range(1, 1e9)
      .optional()
      .excludes("steps")
      .example("10");
  schema.integer("steps", "Number of training steps; either this or `epochs`.")
      .in_range(1, 1e15)
      .optional()
      .excludes("epochs")
      .example("5000");
  add_batch_keys(schema);
  add_every(schema, "report_every", "Report interval: how often progress is reported.")
      .fallback("100 steps");
  add_every(schema, "evaluate_every", "Evaluation interval: how often the test data is evaluated.")
      .fallback("1 epoch");
  schema
      .quantity("peer_timeout", Unit::seconds,
                "Timeout: time without any message after which one of several processes takes "
                "another for lost and ends the run; more than the longest task. While a checkpoint "
                "is written there is no limit.")
      .in_range(2, 1e9)
      .or_word("never")
      .fallback("5 min");
  add_keys_of_the_best_evaluation(schema);
  return schema;
}

Schema checkpoint_schema() {
  Schema schema("checkpoint", "Checkpoints: what is kept to resume from.");
  add_every(schema, "every", "Checkpoint interval: how often a checkpoint is written.")
      .fallback("1 epoch");
  schema.integer("keep", "Number of newest checkpoints that are kept.")
      .in_range(1, 1e6)
      .fallback(3);
  schema
      .integer("keep_best",
               "Number of best checkpoints that are kept beside the newest: by the test data's "
               "figure `train.best_by`. From 1 on, every checkpoint is evaluated before it is "
               "written, which takes data.test.")
      .in_range(0, 1e6)
      .fallback(0);
  schema
      .integer("failures",
               "Failure limit: failures to write a checkpoint, in a row, with the last of which "
               "the run ends (exit code 5). The others are warnings: training goes on, and the "
               "next checkpoint is tried in a new folder. That of step 0 ends the run at once.")
      .in_range(1, 1e6)
      .fallback(3);
  schema
      .boolean("background",
               "Background writing: whether checkpoints are written while training goes on, from a "
               "copy of the state; false: training stands still until each is complete.")
      .fallback(true);
  schema
      .choice("copy", {"auto", "whole", "streamed"},
              "Snapshot: what a checkpoint is written from; whole: a copy of weights and optimizer "
              "states at once, in host memory; streamed: piece by piece from where they are, while "
              "training stands still, for a state that host memory has no room for; auto: streamed "
              "where the whole copy does not fit the machine's memory. The files are the same.")
      .fallback("auto");
  return schema;
}

Schema memory_plan_schema() {
  Schema schema("memory_plan",
                "Memory plan: what becomes of activations between forward and backward. No choice "
                "changes a bit of the result.");
  schema
      .choice("activations", {"keep", "recompute", "offload", "spill", "auto"},
              "Activations, of all layers alike: kept in the lane's memory; recomputed, but for "
              "about every sqrt(layers)-th; copied to host memory and fetched back (on lanes that "
              "read host memory themselves: kept); written to a file and read back; auto: kept "
              "where the budgets allow, else whatever is predicted to be fastest.")
      .fallback("keep");
  schema
      .texts("recompute",
             "Activation recomputation (checkpointing): layers whose activations are dropped and "
             "recomputed, by name; the name of a repeated or composed layer stands for all in it.")
      .optional()
      .example("[conv1, block.2]");
  schema
      .texts("offload",
             "Activation offloading: layers whose activations are copied to host memory, likewise.")
      .optional()
      .example("[conv1]");
  schema
      .texts("spill",
             "Activation spilling: layers whose activations are written to a file, likewise.")
      .optional()
      .example("[conv1]");
  schema
      .integer("prefetch",
               "Prefetch depth: how many layers' activations are on their way while another is "
               "computed.")
      .in_range(1, 64)
      .fallback(1);
  schema
      .quantity("host_memory", Unit::bytes,
                "Host memory budget for what all lanes keep there in front of them, beside their "
                "own memory; hard, as that of a lane.")
      .above(0)
      .or_word("unlimited")
      .fallback("unlimited");
  schema
      .text("folder",
            "Folder where the files of spilled data are made; by default in the run's folder. They "
            "have no name while they are in use, and their space is free again when the run ends.")
      .optional()
      .example("/scratch");
  schema
      .quantity("disk_bandwidth", Unit::bandwidth,
                "Disk bandwidth: bytes a second that the folder's disk writes and reads, for "
                "predictions; unknown: 1 GB/s until it is measured.")
      .above(0)
      .or_word("unknown")
      .fallback("unknown");
  return schema;
}

Schema link_precision_schema() {
  Schema schema("link_precision",
                "Communication precision, of messages between lanes. bf16 halves the bytes of "
                "float32 and changes results by rounding; strict mode refuses it.");
  schema
      .choice("gradients", {"exact", "bf16"},
              "Gradient precision, of weights; every lane sums what was rounded, its own included, "
              "so replicas stay equal.")
      .fallback("exact");
  schema
      .choice("activations", {"exact", "bf16"},
              "Activation precision, of outputs that later stages read; with precision: bf16 they "
              "are bf16 already.")
      .fallback("exact");
  schema
      .choice("activation_gradients", {"exact", "bf16"},
              "Activation gradient precision: that of the gradients of these outputs.")
      .fallback("exact");
  return schema;
}

void add_reading_keys(Schema& schema) {
  schema
      .texts("include",
             "Included decks, or parts of one, that this deck is laid over: their paths, from this "
             "file's folder.")
      .or_single()
      .read_first()
      .example("common/base.yaml");
  schema
      .scalars("variables",
               "Variables: values with names; ${width} in any value stands for that of width. All "
               "of this file's must be used.")
      .read_first()
      .example("{width: 128, data: ../mnist}");
}

void add_run_keys(Schema& schema) {
  schema.integer("deck_version", "Version of the deck's format.")
      .required()
      .in_range(current_deck_version, current_deck_version)
      .example(std::to_string(current_deck_version))
      .advice("this zygos reads decks of version " + std::to_string(current_deck_version) +
              "; docs/changelog.md says how decks of other versions are changed");
  schema.text("name", "Name of the run and of its folder.").fallback_to_file_stem();
  schema
      .integer("seed", "Random seed: the key of every random number (weights, shuffles, dropout).")
      .at_least(0)
      .fallback(1);
  schema
      .choice("precision", {"float32", "float64", "bf16", "tf32"},
              "Floating-point precision of weights and activations; bf16: mixed precision, of "
              "activations and their gradients, which take half the memory, while weights stay "
              "float32; tf32: float32, of which NVIDIA GPUs round the operands of products (see "
              "precision.md).")
      .fallback("float32");
  schema
      .boolean("device_graphs",
               "Graphs: whether steps of device lanes are captured as CUDA graphs and launched as "
               "these, which leaves the host less to do and changes no result (see lanes.md).")
      .fallback(false);
}

}  // namespace

Schema run_schema(const RunTables& tables) {
  Schema schema("deck", "What `zygos train` runs.");
  add_run_keys(schema);
  add_reading_keys(schema);
  schema
      .variant("data", "format", data_schemas(),
               "Data set: samples and their targets. Relative paths start at the deck's folder.")
      .required()
      .example("{format: glyphs}");
  schema.section("model", model_schema(tables)).example("{layers: [{type: dense, units: 10}]}");
  schema
      .variant("optimizer", "type", with_optimizer_keys(tables),
               "Optimizer: how weights follow gradients.")
      .required()
      .example("{type: adam}");
  schema
      .named_sections("lanes", lane_schema(),
                      "Lanes: where the run computes, by name, in the order that policies count.")
      .fallback("{host: {kind: host}, device: {kind: auto}}");
  Key& policy =
      schema.variant("policy", "type", tables.policies,
                     "Placement policy: how a batch and the layers are divided between the lanes.");
  if (find_schema(tables.policies, "coarse_split") != nullptr) {
    policy.fallback("{type: coarse_split}");
  } else {
    policy.required();
  }
  schema.section("train", train_schema()).example("{epochs: 10, batch: 100}");
  schema.section("memory_plan", memory_plan_schema()).example("{activations: auto}");
  schema.section("link_precision", link_precision_schema()).example("{gradients: bf16}");
  schema.section("checkpoint", checkpoint_schema());
  schema
      .path("run_dir", "Run folder, for all output; default: runs/<name> in the working directory.")
      .optional()
      .example("../runs/first");
  return schema;
}

}  // namespace zygos::deck
