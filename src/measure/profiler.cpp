// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/measure/profiler.hpp"

#include "core/median.hpp"
#include "measure/lane_alone.hpp"
#include "measure/layer_costs.hpp"
#include "measure/learned_costs.hpp"
#include "measure/overhead_samples.hpp"
#include "measure/profile_run.hpp"
#include "measure/profile_schedules.hpp"
#include "measure/rounds.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/assumed_profile.hpp"
#include "zygos/train/problem.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace zygos::measure {
namespace {

using plan::PlaceCosts;
using schedule::is_pass;
using schedule::Place;
using schedule::Task;
using schedule::TaskKind;

constexpr std::array together_parts{1.0 / 16, 1.0 / 8, 1.0 / 4, 1.0 / 2, 3.0 / 4};
constexpr std::array transfer_parts{1.0 / 16, 1.0 / 4, 1.0};
constexpr std::int64_t cut_micro_batches = 8;
/// A fast place repeats its work while the slowest does its own, but not more often than this.
constexpr double max_repeats = 16.0;

class Profiler {
 public:
  explicit Profiler(const ProfileRequest& request)
      : request_(request),
        problem_(train::problem_of(request.graph, request.lanes, request.options.dtype,
                                   request.target, request.batch.samples(), request.chunk)),
        base_(problem_.places.size()),
        largest_(problem_.places.size(), 0) {
    problem_.clips = request.optimizer.clip_norm().has_value();
    problem_.optimizer_states = std::ssize(request.optimizer.state_names());
    problem_.activations = request.activations;
    problem_.prefetch = request.prefetch;
    problem_.codecs = request.codecs;
    profile_.places.resize(problem_.places.size());
  }

  plan::Profile run() {
    for (std::size_t place = 0; place < problem_.places.size(); ++place) {
      plan::PlaceProfile& profile = profile_.places[place];
      profile.host_accessible = problem_.places[place].host_accessible;
      const lane::LaneSpec& spec = request_.lanes[place].spec();
      profile.threads = spec.kind == lane::Kind::device ? 1 : spec.threads;
      profile.one_driver = request_.lanes.one_driver(place, cores());
    }
    measure_lanes_alone();
    if (problem_.places.size() > 1) {
      measure_several();
    }
    for (std::size_t place = 0; place < largest_.size(); ++place) {
      if (largest_[place] == 0) {
        profile_.places[place].together = {};  // a few layers and messages: nothing to predict with
      }
    }
    for (plan::PlaceProfile& place : profile_.places) {
      anchor(place.alone);
      anchor(place.together);
    }
    overheads_.write_to(profile_);
    profile_.spin_timeout_s =
        std::chrono::duration<double>(request_.lanes.spin_timeout(cores())).count();
    profile_.cores = cores();
    plan::assume_file_costs(profile_, request_.disk_bytes_per_second);
    return std::move(profile_);
  }

 private:
  static std::size_t index(Place place) { return static_cast<std::size_t>(place); }

  int cores() const { return train::cores_of(request_.options); }

  std::string lane_text(Place place) const {
    return "lane '" + problem_.places[index(place)].name + "'";
  }

  void tell(const std::string& line) const { log(request_.log, LogLevel::info, line); }

  void measure_lanes_alone() {
    std::vector<LaneAlone> lanes;
    for (Place place = 0; place < std::ssize(problem_.places); ++place) {
      lanes.emplace_back(request_, problem_, place,
                         [&](const MeasuredPoint& point) { overheads_.add(point); });
    }
    for (int round = 0; round < profile_rounds; ++round) {
      for (Place place = 0; place < std::ssize(problem_.places); ++place) {
        LaneAlone& lane = lanes[index(place)];
        log_round(request_, round, lane_text(place) + " alone");
        if ((round == 0 || lane.largest() > 0) && !lane.measure()) {
          tell(lane_text(place) + " can't hold the model alone");
        }
      }
    }
    for (Place place = 0; place < std::ssize(problem_.places); ++place) {
      set_costs(place, lanes[index(place)]);
    }
  }

  void set_costs(Place place, const LaneAlone& lane) {
    largest_[index(place)] = lane.largest();
    if (lane.largest() == 0) {
      return;
    }
    const bool whole = lane.largest() == problem_.batch;
    base_[index(place)] = lane.costs();
    // Who can't hold the batch alone has no costs of working alone; they stand in for the others.
    plan::PlaceProfile& profile = profile_.places[index(place)];
    (whole ? profile.alone : profile.together) = base_[index(place)];
    tell("measured " + lane_text(place) + " alone, " +
         std::to_string(request_.graph.nodes().size()) + " layers at " +
         std::to_string(lane.points()) + " numbers of samples" +
         (whole ? "" : "; it can't hold the batch alone"));
  }

  /// Sizes of the micro-batches of every place, so often that all take about the same time.
  std::vector<std::vector<std::int64_t>> fair_sizes(std::int64_t most) const {
    std::vector<std::vector<std::int64_t>> sizes;
    std::vector<double> seconds;
    for (std::size_t place = 0; place < base_.size(); ++place) {
      const auto list = sample_counts(problem_, together_parts, std::min(most, largest_[place]));
      auto& mine = sizes.emplace_back(list.begin(), list.end());
      seconds.push_back(std::accumulate(
          mine.begin(), mine.end(), 0.0,
          [&](double all, std::int64_t count) { return all + whole_s(base_[place], count); }));
    }
    const double longest = std::ranges::max(seconds);
    for (std::size_t place = 0; place < sizes.size(); ++place) {
      const auto once = sizes[place];
      const double repeats = std::clamp(longest / seconds[place], 1.0, max_repeats);
      for (int i = 1; i < static_cast<int>(std::lround(repeats)); ++i) {
        sizes[place].insert(sizes[place].end(), once.begin(), once.end());
      }
    }
    return sizes;
  }

  double whole_s(const PlaceCosts& costs, std::int64_t samples) const {
    const auto nodes = problem_.model.all_nodes();
    return costs.pass_seconds(TaskKind::forward, nodes, samples) +
           costs.pass_seconds(TaskKind::backward, nodes, samples);
  }

  /// What several lanes do at once.
  void measure_several() {
    std::vector<RoundsRun> runs;
    add_together(runs);
    add_exchange(runs);
    std::vector<Place> order(problem_.places.size());
    std::iota(order.begin(), order.end(), 0);
    const std::size_t stages = std::min(order.size(), problem_.model.nodes.size());
    for (int direction = 0; direction < 2; ++direction, std::ranges::reverse(order)) {
      // Where there are fewer layers than lanes, neighbours in turn.
      for (std::size_t first = 0; stages > 1 && first + stages <= order.size(); ++first) {
        add_cuts(runs, std::span(order).subspan(first, stages));
      }
    }
    measure_in_rounds(request_, std::move(runs),
                      [&](const MeasuredPoint& point) { overheads_.add(point); });
    tell("measured the links between lanes");
  }

  void add_together(std::vector<RoundsRun>& runs) {
    if (std::ranges::find(largest_, 0) != largest_.end()) {
      return;
    }
    RoundsRun run;
    for (std::int64_t most = problem_.batch; most > 0; most /= 2) {
      run.schedules.push_back(side_by_side_schedule(problem_, fair_sizes(most)));
    }
    run.what = "work on all lanes";
    run.seconds = request_.seconds_per_point * std::size(together_parts);
    run.learn = [&](const schedule::Schedule& made, const MeasuredPoint& point) {
      learn_together(made, point);
    };
    runs.push_back(std::move(run));
  }

  void learn_together(const schedule::Schedule& schedule, const MeasuredPoint& point) {
    std::map<std::tuple<Place, TaskKind, std::int64_t>, std::vector<double>> seconds;
    for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
      const Task& task = schedule.tasks[id];
      if (point.accompanied_s[id] > 0.0) {
        seconds[{task.place, task.kind, plan::amount_of(task)}].push_back(point.accompanied_s[id]);
      }
    }
    for (auto& [what, values] : seconds) {
      const auto& [place, kind, amount] = what;
      set_together(place, kind, amount, median(std::move(values)));
    }
    learn_transfers(schedule, point, schedule.batch, profile_);
    tell("measured all lanes together");
  }

  void set_together(Place place, TaskKind kind, std::int64_t amount, double seconds) {
    PlaceCosts& costs = profile_.places[index(place)].together;
    if (is_pass(kind)) {
      set_whole_pass(costs, base_[index(place)], kind, amount, seconds);
    } else {
      costs.others[kind].set(amount, seconds);
    }
  }

  void add_exchange(std::vector<RoundsRun>& runs) {
    runs.push_back({{exchange_schedule(problem_)},
                    "an exchange of gradients between all lanes",
                    problem_.batch,
                    request_.seconds_per_point,
                    [&](const schedule::Schedule& made, const MeasuredPoint& point) {
                      learn_transfers(made, point, problem_.batch, profile_);
                      learn_first_passes(made, point, profile_);
                    }});
  }

  void add_cuts(std::vector<RoundsRun>& runs, std::span<const Place> order) {
    for (const std::int64_t count : sample_counts(problem_, transfer_parts, problem_.batch)) {
      add_cut(runs, order, 1, count);
    }
    // Messages that are moved while others compute.
    const auto several = static_cast<std::int32_t>(std::min(cut_micro_batches, problem_.batch));
    add_cut(runs, order, several, problem_.batch);
    add_cut(runs, order, several, problem_.batch, CutOrder::one_f_one_b);
  }

  void add_cut(std::vector<RoundsRun>& runs, std::span<const Place> order,
               std::int32_t micro_batches, std::int64_t samples,
               CutOrder pipeline = CutOrder::gpipe) {
    runs.push_back({{cut_schedule(problem_, order, micro_batches, pipeline)},
                    "a model cut between all lanes",
                    samples,
                    request_.seconds_per_point,
                    [this, samples](const schedule::Schedule& made, const MeasuredPoint& point) {
                      learn_transfers(made, point, samples, profile_);
                      learn_passes_behind(made, point, profile_);
                    }});
  }

  const ProfileRequest& request_;
  plan::Problem problem_;
  plan::Profile profile_;
  std::vector<PlaceCosts> base_;       ///< by place: layers' shares of a pass
  std::vector<std::int64_t> largest_;  ///< by place: samples it can hold; 0: none
  OverheadSamples overheads_;
};

}  // namespace

plan::Profile measure_profile(const ProfileRequest& request) { return Profiler(request).run(); }

}  // namespace zygos::measure
