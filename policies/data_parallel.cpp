// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Workers with a replica of the model each train their share of every batch; the gradients are
// summed and all replicas have the same weights again (Li et al., "PyTorch Distributed", VLDB
// 2020; policies.md 3.1). The loss of a sample is divided by the whole batch, so the plain sum of
// the workers' gradients is the batch's, however unequal the shares.
//
//   ring        buckets of layers, last layers first, so that a bucket is summed while backward is
//               at work on the layers before it. A bucket has a chunk for each of N workers: N - 1
//               times everyone adds a chunk of its neighbour's to its own, then N - 1 times passes
//               a complete one on. 2 (N - 1) / N of the gradient leaves each worker: 2 (N - 1) S.
//   sharded     as ring, but who has a complete chunk updates its weights and hands these out, as
//               in stage 1 of Rajbhandari et al., "ZeRO", SC 2020: each update and each optimizer
//               state is on one worker only, and the bytes are the same.
//   all_reduce  everyone reads all others' gradients and adds them up in the lanes' order:
//               N (N - 1) S, in two waits instead of 2 (N - 1).
//   central     buckets go to the first worker, which alone updates and then hands out its weights:
//               2 (N - 1) S, all of it over the first worker's link; one optimizer state in total.
//   chunked_broadcast
//               as central, but weights are handed out at the begin of the next step, in K chunks
//               of layers, so that a forward pass begins with the first chunk (policies.md 3.19):
//               (N - 1) (1 + K) messages, as many bytes.
#include "data_parallel.hpp"

#include "buckets.hpp"
#include "chunked_broadcast.hpp"
#include "policy_files.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/recommendation.hpp"
#include "zygos/plan/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace zygos::policies {
namespace {

using schedule::MicroBatch;
using schedule::Place;
using schedule::SampleRange;
using schedule::ScheduleBuilder;

constexpr const char* data_parallel_keyword = "data_parallel";

bool goes_round(Exchange exchange) {
  return exchange == Exchange::ring || exchange == Exchange::sharded;
}

class DataParallel final : public train::Policy {
 public:
  explicit DataParallel(DataParallelOptions options, std::string keyword = data_parallel_keyword,
                        Place first = 0)
      : options_(std::move(options)), keyword_(std::move(keyword)), first_(first) {
    if (options_.bucket_bytes < 1) {
      throw UsageError("policy '" + keyword_ + "': bucket is " +
                       std::to_string(options_.bucket_bytes) + " bytes; it must be above 0");
    }
    if (options_.chunks > 0 && options_.exchange != Exchange::chunked_broadcast) {
      throw UsageError("policy '" + keyword_ + "': chunks is " + std::to_string(options_.chunks) +
                       ", and this exchange hands out no weights in chunks; set exchange: "
                       "chunked_broadcast, or leave chunks out");
    }
  }

  std::string_view keyword() const override { return keyword_; }

  bool needs_profile() const override {
    return options_.exchange == Exchange::chunked_broadcast && options_.chunks == 0;
  }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* profile) const override {
    if (needs_profile()) {
      ZYGOS_REQUIRE(profile != nullptr, "an automatic number of chunks needs a profile");
      return scheduled(problem, best_chunks(problem, *profile));
    }
    return scheduled(problem, options_.chunks);
  }

  train::PolicyOptions decisions(const plan::Problem& /*problem*/,
                                 const schedule::Schedule& made) const override {
    return needs_profile() ? train::PolicyOptions{{"chunks", std::to_string(made.parts.size())}}
                           : train::PolicyOptions{};
  }

  /// Every exchange, with equal shares and, where the lanes' speeds differ, with shares like them.
  std::vector<train::PolicyOptions> candidates(const plan::Problem& problem,
                                               const plan::Profile* profile) const override {
    std::vector<std::string> exchanges{"all_reduce", "central"};
    if (problem.chunk == 0) {
      exchanges.insert(exchanges.begin(), {"ring", "sharded"});
    }
    if (profile != nullptr) {
      exchanges.emplace_back("chunked_broadcast");
    }
    const std::string shares =
        profile == nullptr ? "" : shares_like(plan::sample_rates(*profile, problem.batch));
    std::vector<train::PolicyOptions> found;
    for (const std::string& exchange : exchanges) {
      found.push_back({{"exchange", exchange}});
      if (!shares.empty()) {
        found.push_back({{"exchange", exchange}, {"shares", shares}});
      }
    }
    return found;
  }

 private:
  schedule::Schedule scheduled(const plan::Problem& problem, std::int64_t chunks) const {
    auto workers = lanes_for(keyword_, problem, {});
    std::ranges::rotate(workers.begin(), workers.begin() + first_, workers.begin() + first_ + 1);
    const Exchange exchange = exchange_for(problem);
    const std::int64_t own = micro_batches_in(keyword_, problem, options_.micro_batches);
    schedule::Outline outline = outline_of(keyword_, problem, Accumulation::done);
    for (schedule::PlaceOutline& place : outline.places) {
      place.stage = 0;
    }
    outline.micro_batches =
        micro_batches_for(keyword_, problem, options_.shares, lane_names(problem), own);
    if (exchange == Exchange::chunked_broadcast) {
      return chunked_broadcast_schedule(problem, std::move(outline), workers, chunks);
    }
    // Strict mode sums whole trees of partial sums.
    const bool at_once = exchange == Exchange::all_reduce || problem.chunk > 0;
    const auto buckets = add_buckets(outline, at_once ? all_in_one : options_.bucket_bytes,
                                     goes_round(exchange) ? workers.size() : 1);
    if (exchange == Exchange::sharded) {
      add_owners(outline, workers, buckets);
    }
    ScheduleBuilder builder(std::move(outline));
    add_backward_and_exchange(builder, workers, buckets, exchange);
    if (exchange != Exchange::sharded) {
      add_updates(builder, workers, exchange);
    }
    return std::move(builder).build();
  }

  /// Of the shortest step as predicted.
  std::int64_t best_chunks(const plan::Problem& problem, const plan::Profile& profile) const {
    constexpr std::int64_t most = 32;
    std::int64_t best = 1;
    double best_s = std::numeric_limits<double>::infinity();
    for (std::int64_t chunks = 1; chunks <= std::min(most, max_chunks(problem.model)); ++chunks) {
      const double step_s = plan::simulate(scheduled(problem, chunks), profile).makespan_s;
      if (step_s < best_s) {
        best = chunks;
        best_s = step_s;
      }
    }
    return best;
  }

  /// Strict mode has one order of additions, which a ring has not.
  Exchange exchange_for(const plan::Problem& problem) const {
    return problem.chunk > 0 && goes_round(options_.exchange) ? Exchange::all_reduce
                                                              : options_.exchange;
  }

  /// All micro-batches; the last one's backward bucket by bucket, each exchanged at once.
  static void add_backward_and_exchange(ScheduleBuilder& builder, const std::vector<Place>& workers,
                                        const std::vector<Bucket>& buckets, Exchange exchange) {
    const MicroBatch own = micro_batches_of_a_worker(builder, workers);
    for (MicroBatch turn = 0; turn < own; ++turn) {
      for (const Place worker : workers) {
        add_pass_before_buckets(builder, worker, worker * own + turn, turn + 1 == own);
      }
    }
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      const Bucket& bucket = buckets[i];
      for (const Place worker : workers) {
        builder.backward(worker, worker * own + own - 1, bucket.nodes);
      }
      if (goes_round(exchange)) {
        add_ring(builder, workers, bucket, exchange == Exchange::ring ? 2 : 1);
      } else if (exchange == Exchange::central && builder.outline().chunk == 0) {
        for (std::size_t worker = 1; worker < workers.size() && bucket.parts[0] >= 0; ++worker) {
          builder.reduce(workers[worker], workers[0], bucket.parts[0]);
        }
      }
      if (exchange == Exchange::sharded && i > 0) {
        end_bucket(builder, workers, buckets[i - 1]);  // by now its gradients have come
      }
    }
    if (exchange == Exchange::sharded) {
      end_bucket(builder, workers, buckets.back());
      add_clipped_shards(builder, workers, buckets);
    }
  }

  /// What can be done with the complete gradient of one bucket.
  static void end_bucket(ScheduleBuilder& builder, const std::vector<Place>& workers,
                         const Bucket& bucket) {
    if (builder.outline().clips) {
      for_each_shard(workers, bucket,
                     [&](std::int32_t part, Place worker) { builder.squares(worker, part); });
    } else {
      add_shards(builder, workers, bucket);
    }
  }

  /// Updates that are clipped have to wait for the squares of all buckets.
  static void add_clipped_shards(ScheduleBuilder& builder, const std::vector<Place>& workers,
                                 const std::vector<Bucket>& buckets) {
    if (builder.outline().clips) {
      builder.exchange_squares(workers);
      for (const Bucket& bucket : buckets) {
        add_shards(builder, workers, bucket);
      }
    }
  }

  /// Calls f(part, worker) for every part and the worker on which a round of the ring completes it.
  template <class F>
  static void for_each_shard(const std::vector<Place>& workers, const Bucket& bucket, F&& f) {
    for (std::size_t chunk = 0; chunk < bucket.parts.size(); ++chunk) {
      if (bucket.parts[chunk] >= 0) {
        f(bucket.parts[chunk], workers[(chunk + workers.size() - 1) % workers.size()]);
      }
    }
  }

  static void add_owners(schedule::Outline& outline, const std::vector<Place>& workers,
                         const std::vector<Bucket>& buckets) {
    outline.part_owners.resize(outline.parts.size());
    for (const Bucket& bucket : buckets) {
      for_each_shard(workers, bucket, [&](std::int32_t part, Place worker) {
        outline.part_owners[static_cast<std::size_t>(part)] = worker;
      });
    }
  }

  static void add_shards(ScheduleBuilder& builder, const std::vector<Place>& workers,
                         const Bucket& bucket) {
    for_each_shard(workers, bucket,
                   [&](std::int32_t part, Place worker) { builder.update(worker, part); });
    for_each_shard(workers, bucket, [&](std::int32_t part, Place worker) {
      std::vector<Place> others = workers;
      std::erase(others, worker);
      builder.broadcast_weights(worker, others, part);
    });
  }

  static void add_updates(ScheduleBuilder& builder, const std::vector<Place>& workers,
                          Exchange exchange) {
    const auto others = std::span(workers).subspan(1);
    if (exchange == Exchange::central) {
      if (builder.outline().chunk > 0) {
        std::ranges::for_each(others, [&](Place worker) { builder.send_gradients(worker); });
        builder.all_reduce(workers, workers[0]);
      }
      builder.update(workers[0]);
      builder.broadcast_weights(workers[0], others);
      return;
    }
    if (exchange == Exchange::all_reduce) {
      std::ranges::for_each(workers, [&](Place worker) { builder.send_gradients(worker); });
      builder.all_reduce(workers);
    }
    for (const Place worker : workers) {
      builder.update(worker);
    }
  }

  DataParallelOptions options_;
  std::string keyword_;
  Place first_;  ///< the one that updates, of central
};

Exchange exchange_named(const std::string& word) {
  return word == "ring"                ? Exchange::ring
         : word == "central"           ? Exchange::central
         : word == "sharded"           ? Exchange::sharded
         : word == "chunked_broadcast" ? Exchange::chunked_broadcast
                                       : Exchange::all_reduce;
}

}  // namespace

schedule::Schedule data_parallel_schedule(const std::string& policy, const plan::Problem& problem,
                                          DataParallelOptions options, Place first) {
  return DataParallel(std::move(options), policy, first).schedule(problem, nullptr);
}

train::PolicyPtr data_parallel(DataParallelOptions options) {
  return std::make_shared<DataParallel>(std::move(options));
}

train::PolicyEntry data_parallel_entry() {
  deck::Schema schema(
      data_parallel_keyword,
      "Data parallelism: every lane trains its share of the batch; gradients are summed.");
  schema
      .choice(
          "exchange", {"ring", "sharded", "all_reduce", "central", "chunked_broadcast"},
          "Gradient exchange: round a ring, in buckets, while backward goes on; the same, but each "
          "lane updates its share of the weights and hands it out; everyone reads everyone's; on "
          "the first lane, which updates and hands out the weights; or the same, but it hands them "
          "out at the begin of the next step, in chunks of layers, so that forward passes begin "
          "with the first chunk. In strict mode ring and sharded mean all_reduce.")
      .fallback("sharded");
  schema
      .reals(
          "shares",
          "Batch shares: what each lane gets of the batch, in proportion; equal: the same for all.")
      .above(0.0)
      .or_word("equal")
      .fallback("equal")
      .example("[3, 1]");
  schema
      .quantity("bucket", deck::Unit::bytes,
                "Bucket size: gradients that go round the ring, or to the first lane of central, "
                "at once. A layer is not divided.")
      .above(0.0)
      .fallback("25 MB");
  schema
      .integer("chunks",
               "Number of chunks, of exchange chunked_broadcast: parts in which weights are handed "
               "out, of whole layers; auto: measured, so that a step is as short as can be.")
      .at_least(1)
      .or_word("auto")
      .fallback("auto");
  schema
      .integer("micro_batches",
               "Micro-batches (gradient accumulation): parts in which a lane works through its "
               "share, to save memory. Default: train.accumulate, or else 1.")
      .at_least(1)
      .optional()
      .example("4");
  return {schema, [](const deck::Section& section) {
            DataParallelOptions options;
            options.exchange = exchange_named(section.text("exchange"));
            options.shares = listed_shares(section);
            options.bucket_bytes = static_cast<std::int64_t>(section.bytes("bucket"));
            options.micro_batches = micro_batches_option(section);
            options.chunks = section.is_word("chunks", "auto") ? 0 : section.integer("chunks");
            return data_parallel(std::move(options));
          }};
}

}  // namespace zygos::policies
