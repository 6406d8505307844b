// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "offload.hpp"

#include "buckets.hpp"
#include "policy_files.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <utility>

namespace zygos::policies {
namespace {

using schedule::MicroBatch;
using schedule::NodeRange;
using schedule::Place;
using schedule::ScheduleBuilder;

[[noreturn]] void refuse(const Offload& offload, const std::string& why) {
  throw UsageError("policy '" + offload.policy + "': " + why);
}

std::vector<Place> workers_beside(const plan::Problem& problem, Place owner,
                                  const Offload& offload) {
  std::vector<Place> workers;
  for (Place place = 0; place < static_cast<Place>(problem.places.size()); ++place) {
    if (place != owner) {
      workers.push_back(place);
    }
  }
  if (problem.chunk > 0 && workers.size() > 1) {
    refuse(offload,
           "strict mode sums the gradient in one tree over all samples, and " +
               std::to_string(workers.size()) +
               " workers sum buckets in the order of lanes; name one worker, or leave strict mode");
  }
  return workers;
}

/// Part i of the bucket is that of worker i, the one behind them the owner's.
void add_part_owners(schedule::Outline& outline, const Bucket& bucket, Place owner,
                     const std::vector<Place>& workers) {
  for (std::size_t i = 0; i < bucket.parts.size(); ++i) {
    if (bucket.parts[i] >= 0) {
      outline.part_owners.push_back(i < workers.size() ? workers[i] : owner);
    }
  }
}

/// Buckets from the last layer to the first, and who updates each of their parts.
std::vector<Bucket> add_owned_buckets(schedule::Outline& outline, std::int64_t bytes,
                                      const DeviceNodes& device, Place owner,
                                      const std::vector<Place>& workers) {
  const std::int32_t shared_end = device.shared_end();
  auto buckets = add_buckets(outline, bytes, 1, NodeRange{shared_end, outline.model.node_count()});
  outline.part_owners.assign(outline.parts.size(), owner);
  if (device.whole < shared_end) {
    buckets.push_back(add_divided_bucket(outline, {device.whole, shared_end}, device.share_of_next,
                                         workers.size()));
    add_part_owners(outline, buckets.back(), owner, workers);
  }
  for (Bucket& bucket :
       add_buckets(outline, all_in_one, workers.size(), NodeRange{0, device.whole})) {
    add_part_owners(outline, bucket, owner, workers);
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

/// Adds the tasks of one step. With `speculates`, of gradients that are clipped, all buckets but
/// the last are updated before the norm is known.
class OffloadedStep {
 public:
  OffloadedStep(schedule::Outline outline, std::vector<Place> workers, bool speculates)
      : owners_(outline.part_owners),
        workers_(std::move(workers)),
        clips_(outline.clips),
        speculates_(speculates),
        streams_(!outline.streams.empty()),
        builder_(std::move(outline)) {}

  schedule::Schedule build(const std::vector<Bucket>& buckets) && {
    add_forward();
    for (const Bucket& bucket : buckets) {
      add_backward(bucket.nodes);
      // One bucket late in the list: by then the gradients have come.
      if (speculates_) {
        speculate();
      } else if (!clips_) {
        end_waiting_parts();
      }
      gather(bucket);
    }
    if (clips_) {
      exchange_squares();
    }
    confirm();
    end_waiting_parts();
    return std::move(builder_).build();
  }

 private:
  Place owner_of(std::int32_t part) const { return owners_[static_cast<std::size_t>(part)]; }

  MicroBatch own() const { return micro_batches_of_a_worker(builder_, workers_); }

  /// All micro-batches, but for the backward pass of each worker's last one.
  void add_forward() {
    MicroBatch micro_batch = 0;
    for (const Place worker : workers_) {
      for (MicroBatch turn = 0; turn < own(); ++turn) {
        add_pass_before_buckets(builder_, worker, micro_batch++, turn + 1 == own());
      }
    }
  }

  void add_backward(NodeRange nodes) {
    MicroBatch last = own() - 1;
    for (const Place worker : workers_) {
      builder_.backward(worker, last, nodes);
      last += own();
    }
  }

  /// Gradients of all workers are summed where they are taken: an owner that computes adds the
  /// others' to its own, one that does not begins with the first worker's.
  void gather(const Bucket& bucket) {
    for (const std::int32_t part : bucket.parts) {
      if (part < 0) {
        continue;
      }
      const Place owner = owner_of(part);
      bool holds_sum = std::ranges::find(workers_, owner) != workers_.end();
      for (const Place worker : workers_) {
        if (worker != owner) {
          holds_sum ? builder_.reduce(worker, owner, part) : builder_.replace(worker, owner, part);
          holds_sum = true;
        }
      }
      waiting_.push_back(part);
    }
  }

  void add_squares() {
    for (const std::int32_t part : waiting_) {
      builder_.squares(owner_of(part), part);
      if (std::ranges::find(measured_, owner_of(part)) == measured_.end()) {
        measured_.push_back(owner_of(part));
      }
    }
  }

  void exchange_squares() {
    add_squares();
    builder_.exchange_squares(measured_);
  }

  void speculate() {
    add_squares();
    for (const std::int32_t part : waiting_) {
      builder_.speculate(owner_of(part), part);
      speculated_.push_back(part);
    }
    waiting_.clear();
  }

  /// Only weights that are confirmed go to the workers: what is sent twice where the norm is above
  /// its limit would take the time that it saves where it is not.
  void confirm() {
    for (const std::int32_t part : speculated_) {
      builder_.confirm(owner_of(part), part);
      send_weights(part);
    }
  }

  void end_waiting_parts() {
    for (const std::int32_t part : waiting_) {
      builder_.update(owner_of(part), part);
      send_weights(part);
    }
    waiting_.clear();
  }

  void send_weights(std::int32_t part) {
    const Place owner = owner_of(part);
    std::vector<Place> others = workers_;
    std::erase(others, owner);
    if (!others.empty() && !streams_) {
      builder_.broadcast_weights(owner, others, part);
    }
  }

  std::vector<Place> owners_;  ///< by part
  std::vector<Place> workers_;
  bool clips_;
  bool speculates_;
  bool streams_;
  ScheduleBuilder builder_;
  std::vector<std::int32_t> waiting_;     ///< parts that are gathered and not yet updated
  std::vector<std::int32_t> speculated_;  ///< parts that wait to be confirmed
  std::vector<Place> measured_;           ///< owners whose squares have been summed
};

/// Says in the outline whose states rest in a file: those of the owner, if there are any.
void spill_states(schedule::Outline& outline, const Offload& offload, Place owner) {
  const schedule::PlaceOutline& place = outline.places[static_cast<std::size_t>(owner)];
  if (!offload.spills_states) {
    return;
  }
  if (!place.host_accessible) {
    refuse(offload,
           "states: file needs an owner that reads host memory itself, from which its "
           "file is written, and '" +
               place.name + "' does not; name another owner, or leave states out");
  }
  if (outline.optimizer_states > 0 && std::ranges::count(outline.part_owners, owner) > 0) {
    outline.spills_states.assign(outline.places.size(), false);
    outline.spills_states[static_cast<std::size_t>(owner)] = true;
  }
}

bool speculates(const plan::Problem& problem, const Offload& offload) {
  if (offload.speculate.value_or(false) && offload.spills_states) {
    refuse(offload,
           "speculate is on, and states: file has states in memory for one update only, while a "
           "speculated one waits for the norm with them and with what it has overwritten; leave "
           "one of them");
  }
  if (offload.speculate.value_or(false) && !problem.clips) {
    refuse(offload,
           "speculate is on, and the optimizer has no clip_norm: updates wait for nothing; set "
           "optimizer.clip_norm, or leave speculate out");
  }
  return problem.clips && offload.speculate.value_or(offload.streams && !offload.spills_states);
}

}  // namespace

Place owner_in(const plan::Problem& problem, const Offload& offload) {
  const auto& places = problem.places;
  const auto found = offload.owner.empty()
                         ? std::ranges::find(places, true, &plan::PlaceInfo::host_accessible)
                         : std::ranges::find(places, offload.owner, &plan::PlaceInfo::name);
  if (found == places.end()) {
    refuse(offload, (offload.owner.empty()
                         ? "no lane reads host memory itself, and none is named as " + offload.role
                         : offload.role + " names lane '" + offload.owner + "'") +
                        "; the run has " + lanes_text(problem));
  }
  return static_cast<Place>(found - places.begin());
}

void require_bucket(const Offload& offload) {
  if (offload.bucket_bytes < 1) {
    refuse(offload,
           "bucket is " + std::to_string(offload.bucket_bytes) + " bytes; it must be above 0");
  }
}

schedule::Schedule offload_schedule(const plan::Problem& problem, const Offload& offload,
                                    const DeviceNodes& device) {
  static_cast<void>(lanes_for(offload.policy, problem, {}));  // there are at least two
  const Place owner = owner_in(problem, offload);
  const auto workers = workers_beside(problem, owner, offload);
  schedule::Outline outline = outline_of(offload.policy, problem, Accumulation::done);
  for (const Place worker : workers) {
    outline.places[static_cast<std::size_t>(worker)].stage = 0;
  }
  const std::int64_t own = micro_batches_in(offload.policy, problem, {});
  for (const schedule::SampleRange& share :
       divide(offload.policy, problem, {0, problem.batch},
              static_cast<std::int64_t>(workers.size()), "number of workers")) {
    const auto pieces = divide(offload.policy, problem, share, own);
    outline.micro_batches.insert(outline.micro_batches.end(), pieces.begin(), pieces.end());
  }
  if (offload.streams) {
    if (own > 1) {
      refuse(offload,
             "train.accumulate is " + std::to_string(own) +
                 ", and with weights: host a worker keeps no gradient from one micro-batch "
                 "to the next; leave one of them");
    }
    if (problem.chunk > 0) {
      refuse(offload,
             "strict mode keeps several partial sums of each gradient on a worker, and with "
             "weights: host it keeps none; leave one of them");
    }
    outline.streams.assign(outline.places.size(), false);
    for (const Place worker : workers) {
      outline.streams[static_cast<std::size_t>(worker)] = true;
    }
  }
  const auto buckets = add_owned_buckets(outline, offload.bucket_bytes, device, owner, workers);
  spill_states(outline, offload, owner);
  return OffloadedStep(std::move(outline), workers, speculates(problem, offload)).build(buckets);
}

void add_offload_keys(deck::Schema& schema) {
  schema
      .text("owner",
            "Owner of the optimizer states: lane that updates; the first that reads host memory "
            "itself if not given.")
      .optional()
      .example("host");
  schema
      .quantity("bucket", deck::Unit::bytes,
                "Bucket size: gradients that go to the owner, and weights that come back, at once. "
                "A layer is not divided.")
      .above(0.0)
      .fallback("25 MB");
  schema
      .choice("speculate", {"auto", "on", "off"},
              "Speculative updates, with optimizer.clip_norm: all buckets but the last are updated "
              "before the norm of the gradient is known, and once more from what they were if it "
              "is above its limit; the owner keeps a second copy of their weights and states for "
              "it. auto: on with weights: host, where nothing is sent back; else off. Not with "
              "states: file.")
      .fallback("auto");
  schema
      .choice("states", {"host", "file"},
              "Optimizer states, where the owner's rest: in its memory, or in a file (in "
              "memory_plan.folder), from which those of a bucket come for its update, "
              "memory_plan.prefetch buckets ahead.")
      .fallback("host");
}

Offload offload_of(std::string policy, const deck::Section& section) {
  Offload offload{.policy = std::move(policy), .owner = {}};
  if (section.has("owner")) {
    offload.owner = section.text("owner");
  }
  offload.bucket_bytes = static_cast<std::int64_t>(section.bytes("bucket"));
  if (const std::string speculate = section.text("speculate"); speculate != "auto") {
    offload.speculate = speculate == "on";
  }
  offload.spills_states = section.text("states") == "file";
  return offload;
}

}  // namespace zygos::policies
