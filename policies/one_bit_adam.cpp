// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Replicas that exchange their momentum in one bit an element (Tang et al., "1-bit Adam", ICML
// 2021; policies.md 3.13), once the optimizer of the same name has frozen its variance; until then,
// their gradients. A bucket of layers has a chunk for each of N workers, as in a ring, but everyone
// sends each chunk to its owner at once: the owner sums what arrives in the order of lanes,
// compresses the sum and hands it out. Both compressions keep their error and add it to what they
// compress next. 2 (N - 1) messages a chunk: with n elements in it 2 (N - 1) (4 ceil(n / 1024) +
// ceil(n / 8)) bytes in float, before the freeze 2 (N - 1) 4 n.
#include "buckets.hpp"
#include "policy_files.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>

namespace zygos::policies {
namespace {

using schedule::MicroBatch;
using schedule::Place;
using schedule::ScheduleBuilder;

constexpr const char* one_bit_adam_keyword = "one_bit_adam";

[[noreturn]] void refuse_one_bit(const std::string& why) {
  throw UsageError("policy 'one_bit_adam': " + why);
}

void require_fit(const plan::Problem& problem) {
  if (problem.clips) {
    refuse_one_bit(
        "optimizer.clip_norm scales the gradient of the whole batch, which no lane has once "
        "momenta are exchanged; leave clip_norm out");
  }
  if (problem.chunk > 0) {
    refuse_one_bit(
        "strict mode keeps the bits of a run on one lane, and one bit an element cannot; leave "
        "one of them");
  }
  if (problem.one_bit.after == 0) {
    refuse_one_bit(
        "it exchanges the momentum of the optimizer one_bit_adam; set optimizer.type to "
        "one_bit_adam, or take policy data_parallel");
  }
  if (problem.codecs.gradients != schedule::Codec::exact) {
    refuse_one_bit("it has a code for gradients of its own; leave link_precision.gradients exact");
  }
  const bool has_statistics = std::ranges::any_of(
      problem.model.nodes, [](const schedule::NodeOutline& node) { return node.statistics > 0; });
  if (has_statistics || problem.model.samples_together > 1) {
    refuse_one_bit(
        "the model's layers have statistics over samples, whose means are exchanged with the "
        "gradients and must stay exact; take policy data_parallel");
  }
}

class OneBitAdam final : public train::Policy {
 public:
  explicit OneBitAdam(OneBitAdamOptions options) : options_(std::move(options)) {
    if (options_.bucket_bytes < 1) {
      refuse_one_bit("bucket is " + std::to_string(options_.bucket_bytes) +
                     " bytes; it must be above 0");
    }
  }

  std::string_view keyword() const override { return one_bit_adam_keyword; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* /*profile*/) const override {
    const auto workers = lanes_for(one_bit_adam_keyword, problem, {});
    require_fit(problem);
    schedule::Outline outline = outline_of(one_bit_adam_keyword, problem, Accumulation::done);
    for (schedule::PlaceOutline& place : outline.places) {
      place.stage = 0;
    }
    const std::int64_t own = micro_batches_in(one_bit_adam_keyword, problem, {});
    outline.micro_batches =
        micro_batches_for(one_bit_adam_keyword, problem, options_.shares, lane_names(problem), own);
    outline.codecs.gradients = schedule::Codec::one_bit;
    outline.one_bit = problem.one_bit;
    const auto buckets = add_buckets(outline, options_.bucket_bytes, workers.size());
    ScheduleBuilder builder(std::move(outline));
    const MicroBatch last = add_micro_batches(builder, workers);
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      for (const Place worker : workers) {
        builder.backward(worker, worker * (last + 1) + last, buckets[i].nodes);
      }
      reduce_chunks(builder, workers, buckets[i]);
      if (i > 0) {
        hand_out_chunks(builder, workers, buckets[i - 1]);  // by now what is summed has come
      }
    }
    hand_out_chunks(builder, workers, buckets.back());
    for (const Place worker : workers) {
      builder.update(worker);
    }
    return std::move(builder).build();
  }

 private:
  /// All but the backward pass of each worker's last one; returns how many come before that.
  static MicroBatch add_micro_batches(ScheduleBuilder& builder, const std::vector<Place>& workers) {
    const MicroBatch own = micro_batches_of_a_worker(builder, workers);
    for (const Place worker : workers) {
      for (MicroBatch turn = 0; turn < own; ++turn) {
        add_pass_before_buckets(builder, worker, worker * own + turn, turn + 1 == own);
      }
    }
    return own - 1;
  }

  /// Calls f(part, owner, others) for every chunk with something in it.
  template <class F>
  static void for_each_chunk(const std::vector<Place>& workers, const Bucket& bucket, F&& f) {
    for (std::size_t chunk = 0; chunk < workers.size(); ++chunk) {
      std::vector<Place> others = workers;
      std::erase(others, workers[chunk]);
      if (bucket.parts[chunk] >= 0) {
        f(bucket.parts[chunk], workers[chunk], others);
      }
    }
  }

  static void reduce_chunks(ScheduleBuilder& builder, const std::vector<Place>& workers,
                            const Bucket& bucket) {
    for_each_chunk(workers, bucket,
                   [&](std::int32_t part, Place owner, const std::vector<Place>& others) {
                     for (const Place worker : workers) {
                       builder.compress(worker, part, false);
                     }
                     for (const Place worker : others) {
                       builder.reduce(worker, owner, part);
                     }
                   });
  }

  static void hand_out_chunks(ScheduleBuilder& builder, const std::vector<Place>& workers,
                              const Bucket& bucket) {
    for_each_chunk(workers, bucket,
                   [&](std::int32_t part, Place owner, const std::vector<Place>& others) {
                     builder.compress(owner, part, true);
                     for (const Place worker : others) {
                       builder.replace(owner, worker, part);
                     }
                   });
  }

  OneBitAdamOptions options_;
};

}  // namespace

train::PolicyPtr one_bit_adam(OneBitAdamOptions options) {
  return std::make_shared<OneBitAdam>(std::move(options));
}

train::PolicyEntry one_bit_adam_entry() {
  deck::Schema schema(one_bit_adam_keyword,
                      "Every lane trains its share of the batch; after the freeze of optimizer "
                      "one_bit_adam they exchange one bit an element.");
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
                "Bucket size: gradients, before compression, that are exchanged at once. A layer "
                "is not divided.")
      .above(0.0)
      .fallback("25 MB");
  return {schema, [](const deck::Section& section) {
            OneBitAdamOptions options;
            options.shares = listed_shares(section);
            options.bucket_bytes = static_cast<std::int64_t>(section.bytes("bucket"));
            return one_bit_adam(std::move(options));
          }};
}

}  // namespace zygos::policies
