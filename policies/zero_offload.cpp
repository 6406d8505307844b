// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Optimizer states and updates on one lane, forward and backward on the others (Ren et al.,
// "ZeRO-Offload", USENIX ATC 2021, section 4; policies.md 3.12), in its synchronous form: gradients
// go to the owner bucket by bucket while backward is at work on the layers before, the owner adds
// up what several workers send, updates a bucket as soon as it is whole and sends its weights back.
//
//   bytes of a worker's lane     4 N weights + 4 N gradients instead of 4 N (2 + states)
//   bytes over its link          4 N out and 4 N in, a step
//
// With clipping by the norm, updates begin when the squares of all buckets are known.
#include "buckets.hpp"
#include "policy_files.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>

namespace zygos::policies {
namespace {

using schedule::MicroBatch;
using schedule::Place;
using schedule::ScheduleBuilder;

constexpr const char* keyword_text = "zero_offload";

class ZeroOffload final : public train::Policy {
 public:
  explicit ZeroOffload(ZeroOffloadOptions options) : options_(std::move(options)) {
    if (options_.bucket_bytes < 1) {
      throw UsageError("policy 'zero_offload': bucket is " + std::to_string(options_.bucket_bytes) +
                       " bytes; it must be above 0");
    }
  }

  std::string_view keyword() const override { return keyword_text; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* /*profile*/) const override {
    static_cast<void>(lanes_for(keyword_text, problem, {}));  // there are at least two
    const Place owner = owner_of(problem);
    const auto workers = workers_beside(problem, owner);
    schedule::Outline outline = outline_of(keyword_text, problem);
    for (const Place worker : workers) {
      outline.places[static_cast<std::size_t>(worker)].stage = 0;
    }
    outline.micro_batches = divide(keyword_text, problem, {0, problem.batch},
                                   static_cast<std::int64_t>(workers.size()), "number of workers");
    const auto buckets = add_buckets(outline, options_.bucket_bytes, 1);
    outline.part_owners.assign(outline.parts.size(), owner);
    ScheduleBuilder builder(std::move(outline));
    add_forward(builder, workers);
    add_backward(builder, owner, workers, buckets);
    return std::move(builder).build();
  }

 private:
  [[noreturn]] static void refuse(const std::string& why) {
    throw UsageError("policy 'zero_offload': " + why);
  }

  /// The lane that is named, or else the first that reads host memory itself.
  Place owner_of(const plan::Problem& problem) const {
    const auto& places = problem.places;
    const auto found = options_.owner.empty()
                           ? std::ranges::find(places, true, &plan::PlaceInfo::host_accessible)
                           : std::ranges::find(places, options_.owner, &plan::PlaceInfo::name);
    if (found == places.end()) {
      refuse((options_.owner.empty()
                  ? "no lane reads host memory itself, and none is named as owner"
                  : "owner names lane '" + options_.owner + "'") +
             "; the run has " + lanes_text(problem));
    }
    return static_cast<Place>(found - places.begin());
  }

  static std::vector<Place> workers_beside(const plan::Problem& problem, Place owner) {
    std::vector<Place> workers;
    for (Place place = 0; place < static_cast<Place>(problem.places.size()); ++place) {
      if (place != owner) {
        workers.push_back(place);
      }
    }
    if (problem.chunk > 0 && workers.size() > 1) {
      refuse("strict mode sums the gradient in one tree over all samples, and " +
             std::to_string(workers.size()) +
             " workers sum buckets in the order of lanes; name one worker, or leave strict mode");
    }
    return workers;
  }

  static void add_forward(ScheduleBuilder& builder, const std::vector<Place>& workers) {
    MicroBatch micro_batch = 0;
    for (const Place worker : workers) {
      builder.load(worker, micro_batch);
      builder.forward(worker, micro_batch);
      builder.loss(worker, micro_batch);
      ++micro_batch;
    }
  }

  /// A bucket is updated one bucket late in the list: by then its gradients have come.
  static void add_backward(ScheduleBuilder& builder, Place owner, const std::vector<Place>& workers,
                           const std::vector<Bucket>& buckets) {
    const bool clips = builder.outline().clips;
    std::vector<std::int32_t> parts;
    for (const Bucket& bucket : buckets) {
      MicroBatch micro_batch = 0;
      for (const Place worker : workers) {
        builder.backward(worker, micro_batch++, bucket.nodes);
      }
      if (!clips && !parts.empty()) {
        end_bucket(builder, owner, workers, parts.back());
      }
      if (const std::int32_t part = bucket.parts.front(); part >= 0) {
        gather(builder, owner, workers, part);
        parts.push_back(part);
      }
    }
    if (clips) {
      for (const std::int32_t part : parts) {
        builder.squares(owner, part);
      }
      builder.exchange_squares({&owner, 1});
    }
    for (std::size_t i = clips || parts.empty() ? 0 : parts.size() - 1; i < parts.size(); ++i) {
      end_bucket(builder, owner, workers, parts[i]);
    }
  }

  static void gather(ScheduleBuilder& builder, Place owner, const std::vector<Place>& workers,
                     std::int32_t part) {
    for (const Place worker : workers) {
      worker == workers.front() ? builder.replace(worker, owner, part)
                                : builder.reduce(worker, owner, part);
    }
  }

  static void end_bucket(ScheduleBuilder& builder, Place owner, const std::vector<Place>& workers,
                         std::int32_t part) {
    builder.update(owner, part);
    builder.broadcast_weights(owner, workers, part);
  }

  ZeroOffloadOptions options_;
};

}  // namespace

train::PolicyPtr zero_offload(ZeroOffloadOptions options) {
  return std::make_shared<ZeroOffload>(std::move(options));
}

train::PolicyEntry zero_offload_entry() {
  deck::Schema schema(keyword_text,
                      "One lane owns optimizer states and updates; the others train their shares "
                      "of the batch with its weights.");
  schema.text("owner", "Lane that updates; the first that reads host memory itself if not given.")
      .optional()
      .example("host");
  schema
      .quantity("bucket", deck::Unit::bytes,
                "Gradients that go to the owner, and weights that come back, at once. A layer is "
                "not divided.")
      .above(0.0)
      .fallback("25 MB");
  return {schema, [](const deck::Section& section) {
            ZeroOffloadOptions options;
            if (section.has("owner")) {
              options.owner = section.text("owner");
            }
            options.bucket_bytes = static_cast<std::int64_t>(section.bytes("bucket"));
            return zero_offload(std::move(options));
          }};
}

}  // namespace zygos::policies
