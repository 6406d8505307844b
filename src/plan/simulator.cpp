// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/simulator.hpp"

#include "plan/task_links.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/sharding.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace zygos::plan {
namespace {

using schedule::Queue;
using schedule::Schedule;
using schedule::Task;
using schedule::TaskId;

Simulation blank(const Schedule& schedule) {
  Simulation out;
  out.tasks.resize(schedule.tasks.size());
  out.busy_s.assign(schedule.lane_count(), 0.0);
  out.idle_s.assign(schedule.lane_count(), 0.0);
  out.bytes = schedule.traffic_bytes();
  out.messages = schedule.traffic_messages();
  return out;
}

void require_all(std::size_t ended, const Schedule& schedule) {
  if (ended != schedule.tasks.size()) {
    throw InternalError("the schedule of policy '" + schedule.policy +
                        "' has a cycle; validate() names it");
  }
}

/// What follows from the times of the tasks.
void sum_up(const Schedule& schedule, Simulation& out) {
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const Task& task = schedule.tasks[id];
    const TaskTime& time = out.tasks[id];
    out.makespan_s = std::max(out.makespan_s, time.end_s);
    if (task.queue == Queue::compute) {
      out.busy_s[schedule.lane_of(task.place)] += time.end_s - time.start_s;
    }
  }
  for (const std::size_t lane : schedule.active_lanes()) {
    out.idle_s[lane] = std::max(0.0, out.makespan_s - out.busy_s[lane]);
  }
}

bool ends_jointly(const Schedule& schedule, const Simulation& simulation) {
  std::vector<bool> late(schedule.lane_count(), false);
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const Task& task = schedule.tasks[id];
    if (task.queue == Queue::compute &&
        simulation.tasks[id].end_s >= simulation.makespan_s - joint_end_s) {
      late[schedule.lane_of(task.place)] = true;
    }
  }
  return std::ranges::count(late, true) > 1;
}

/// Places that work at the same time slow each other down, so a task's end is known only once it is
/// there: this goes from one end of a task to the next.
class SharedMachine {
 public:
  SharedMachine(const Schedule& schedule, const Profile& profile)
      : schedule_(schedule),
        profile_(profile),
        links_(schedule),
        histories_(pass_histories(schedule)),
        cores_(profile.cores > 0 ? static_cast<double>(profile.cores) : unlimited),
        others_(std::max<std::ptrdiff_t>(1, std::ssize(schedule.active_lanes()) - 1)),
        computing_(schedule.lane_count(), 0),
        line_end_s_(schedule.lane_count() * schedule::queue_count, 0.0),
        link_end_s_(schedule.lane_count() * schedule::queue_count, 0.0),
        drivers_(schedule.lane_count() * schedule::queue_count),
        shared_(schedule.lane_count(), false),
        out_(blank(schedule)) {}

  Simulation run() {
    for (const schedule::Place lane : schedule_.further_lanes) {
      shared_[static_cast<std::size_t>(lane)] = true;
    }
    for (std::size_t id = 0; id < schedule_.tasks.size(); ++id) {
      if (links_.open[id] == 0) {
        make_ready(id);
      }
    }
    drive();
    while (!running_.empty()) {
      const auto first = std::ranges::min_element(
          running_, {}, [&](const Running& task) { return to_go_s(task); });
      const double passed_s = to_go_s(*first);
      now_ += passed_s;
      for (Running& task : running_) {
        advance(task, passed_s);
      }
      if (first->waiting_s > 0.0 && !first->has_run) {
        begin(*first);
      } else if (first->on_link_s > 0.0 && !first->has_run) {
        leave_to_link(*first);
      } else {
        end(first);
      }
      drive();
    }
    require_all(ended_, schedule_);
    sum_up(schedule_, out_);
    return std::move(out_);
  }

 private:
  struct Running {
    std::size_t id = 0;
    double waiting_s = 0.0;  ///< until it begins
    double left = 1.0;       ///< share of the work
    double alone_s = 0.0;
    double together_s = 0.0;
    double core_share = 0.0;  ///< of a message: of a core while it is moved
    // Where a lane has one driver:
    double possible_s = 0.0;  ///< since when it could run, had its driver had time
    double on_link_s = 0.0;   ///< that it takes beside the driver's work
    bool has_run = false;     ///< and waits for the link
  };

  /// Of a lane with one, which takes messages before what it has to compute, or of a queue of a
  /// lane with several places, which takes what comes first in the schedule's list.
  struct Driver {
    bool busy = false;
    double end_s = 0.0;            ///< of what it did last
    std::vector<Running> ready{};  ///< at most one of each line
  };

  const Task& task_of(const Running& running) const { return schedule_.tasks[running.id]; }

  /// Transfers wait for a link more than they work.
  static bool loads_machine(const Task& task) { return task.queue == Queue::compute; }

  /// Share of its speed that a task has where more cores are wanted than there are. Messages come
  /// first: their threads have short time slices.
  double share_of_cores(const Task& task) const {
    if (!loads_machine(task)) {
      return std::min(1.0, cores_ / messages_);
    }
    const double left = std::max(0.0, cores_ - messages_);
    return std::clamp(left / std::min(computing_cores_, cores_), min_share, 1.0);
  }

  /// Seconds of the whole task if things stay as they are.
  double pace(const Running& running) const {
    const bool self = computing_[lane_of(task_of(running))] > 0;
    const double share =
        static_cast<double>(computing_lanes_ - (self ? 1 : 0)) / static_cast<double>(others_);
    return (running.alone_s + share * (running.together_s - running.alone_s)) /
           share_of_cores(task_of(running));
  }

  void count(const Running& running, int change) {
    const Task& task = task_of(running);
    messages_ = std::max(0.0, messages_ + change * running.core_share);
    if (loads_machine(task)) {
      int& here = computing_[lane_of(task)];
      const bool before = here > 0;
      here += change;
      const int lanes = static_cast<int>(here > 0) - static_cast<int>(before);
      computing_lanes_ += lanes;
      computing_cores_ += lanes * profile_.places[static_cast<std::size_t>(task.place)].threads;
    }
  }

  /// Until it begins, or else until it ends.
  double to_go_s(const Running& running) const {
    return running.waiting_s > 0.0 ? running.waiting_s : running.left * pace(running);
  }

  /// A wait that ends now is left a little above zero, for begin() to see.
  void advance(Running& running, double passed_s) {
    if (running.waiting_s > 0.0) {
      running.waiting_s =
          std::max(running.waiting_s - passed_s, std::numeric_limits<double>::min());
      return;
    }
    const double whole_s = pace(running);
    running.left = whole_s > 0.0 ? std::max(0.0, running.left - passed_s / whole_s) : 0.0;
  }

  /// A file's queue has a thread of its own everywhere.
  bool one_driver(const Task& task) const {
    return task.queue != Queue::file &&
           profile_.places[static_cast<std::size_t>(task.place)].one_driver;
  }
  bool has_driver(const Task& task) const { return one_driver(task) || shared_[lane_of(task)]; }
  std::size_t lane_of(const Task& task) const { return schedule_.lane_of(task.place); }
  /// A queue of a lane, whichever of its places the task is of.
  std::size_t queue_of(const Task& task) const {
    return lane_of(task) * schedule::queue_count + static_cast<std::size_t>(task.queue);
  }
  std::size_t driver_number(const Task& task) const {
    return one_driver(task) ? lane_of(task) * schedule::queue_count : queue_of(task);
  }
  Driver& driver_of(const Task& task) { return drivers_[driver_number(task)]; }

  /// All that a task waits for has ended; the last of it, which is not of its line, by `before`.
  void make_ready(std::size_t id, const Task* before = nullptr) {
    const Task& task = schedule_.tasks[id];
    Running ready{id, 0.0, 1.0, seconds(id, false), seconds(id, true), profile_.core_share(task)};
    if (!has_driver(task)) {
      ready.waiting_s = before == nullptr ? 0.0 : handover_s(task, *before);
      return start(ready);
    }
    Driver& driver = driver_of(task);
    const bool handed_over =
        before != nullptr && (one_driver(task) ? lane_of(*before) != lane_of(task) : true);
    if (handed_over && !driver.busy && driver.end_s < now_) {
      ready.waiting_s =
          now_ - driver.end_s > profile_.spin_timeout_s ? profile_.wake_s : profile_.handover_s;
    }
    if (!loads_machine(task) && one_driver(task)) {
      ready.on_link_s = (1.0 - ready.core_share) * ready.alone_s;
      ready.alone_s *= ready.core_share;
      ready.together_s *= ready.core_share;
      ready.core_share = 0.0;  // it takes none from others
    }
    ready.possible_s = now_;
    driver.ready.push_back(ready);
    if (!driver.busy) {
      looking_.push_back(driver_number(task));
    }
  }

  /// Lets drivers that have nothing to do, and may now, take their next task.
  void drive() {
    const auto turn = [&](const Running& ready) {
      const Queue queue = task_of(ready).queue;
      return std::pair(queue == Queue::outgoing ? 0 : queue == Queue::incoming ? 1 : 2, ready.id);
    };
    for (const std::size_t number : std::exchange(looking_, {})) {
      Driver& driver = drivers_[number];
      if (!driver.busy && !driver.ready.empty()) {
        const auto next = std::ranges::min_element(driver.ready, {}, turn);
        const Running task = *next;
        driver.ready.erase(next);
        driver.busy = true;
        start(task);
      }
    }
  }

  void release(const Task& task) {
    Driver& driver = driver_of(task);
    driver.busy = false;
    driver.end_s = now_;
    looking_.push_back(driver_number(task));
  }

  void start(const Running& task) {
    running_.push_back(task);
    if (task.waiting_s <= 0.0) {
      begin(running_.back());
    }
  }

  /// A link has set out as soon as it could, whatever the driver was at.
  void leave_to_link(Running& running) {
    TaskTime& time = out_.tasks[running.id];
    const double length_s = now_ - time.start_s + running.on_link_s;
    double& link_end_s = link_end_s_[queue_of(task_of(running))];
    const double end_s = std::max(now_, std::max(running.possible_s, link_end_s) + length_s);
    link_end_s = end_s;
    time.start_s = end_s - length_s;
    running.has_run = true;
    running.waiting_s = std::max(end_s - now_, std::numeric_limits<double>::min());
    count(running, -1);
    release(task_of(running));
  }

  double seconds(std::size_t id, bool together) const {
    return profile_.seconds_behind(schedule_.tasks[id], histories_[id], together);
  }

  void begin(Running& running) {
    running.waiting_s = 0.0;
    out_.tasks[running.id].start_s = now_;
    count(running, 1);
  }

  void end(std::vector<Running>::iterator running) {
    const std::size_t id = running->id;
    if (!running->has_run) {
      count(*running, -1);
      if (has_driver(schedule_.tasks[id])) {
        release(schedule_.tasks[id]);
      }
    }
    *running = running_.back();
    running_.pop_back();
    out_.tasks[id].end_s = now_;
    line_end_s_[queue_of(schedule_.tasks[id])] = now_;
    ++ended_;
    for (const TaskId later : links_.next(id)) {
      const auto index = static_cast<std::size_t>(later);
      if (--links_.open[index] == 0) {
        const bool handed_over = queue_of(schedule_.tasks[index]) != queue_of(schedule_.tasks[id]);
        make_ready(index, handed_over ? &schedule_.tasks[id] : nullptr);
      }
    }
  }

  /// From the end of `before`, which is now, to the begin of a task of another line.
  double handover_s(const Task& task, const Task& before) const {
    if (!loads_machine(task)) {
      return profile_.message_handover_s;
    }
    const bool slept =
        loads_machine(before) && now_ - line_end_s_[queue_of(task)] > profile_.spin_timeout_s;
    return slept ? profile_.wake_s : profile_.handover_s;
  }

  static constexpr double unlimited = std::numeric_limits<double>::infinity();
  /// Of a lane whose cores all move messages: not zero, which nothing may be divided by.
  static constexpr double min_share = 1e-6;

  const Schedule& schedule_;
  const Profile& profile_;
  TaskLinks links_;
  std::vector<PassHistory> histories_;
  double cores_;
  std::ptrdiff_t others_;
  std::vector<int> computing_;      ///< running tasks that load the machine, by lane
  std::vector<double> line_end_s_;  ///< of the last task that has ended, by queue of a lane
  std::vector<double> link_end_s_;  ///< of what it has carried, by queue of a lane
  int computing_lanes_ = 0;
  double computing_cores_ = 0.0;
  double messages_ = 0.0;             ///< cores that messages take
  std::vector<Driver> drivers_;       ///< by queue of a lane; of a lane with one driver the first
  std::vector<bool> shared_;          ///< by lane: it has several places
  std::vector<std::size_t> looking_;  ///< drivers that may find something to do
  std::vector<Running> running_;
  double now_ = 0.0;
  std::size_t ended_ = 0;
  Simulation out_;
};

}  // namespace

double Simulation::idle_share() const {
  const double idle = std::accumulate(idle_s.begin(), idle_s.end(), 0.0);
  const double busy = std::accumulate(busy_s.begin(), busy_s.end(), 0.0);
  return idle + busy > 0.0 ? idle / (idle + busy) : 0.0;
}

Simulation simulate(const Schedule& schedule, const TaskSeconds& seconds) {
  TaskLinks links(schedule);
  Simulation out = blank(schedule);
  std::vector<std::size_t> ready;
  ready.reserve(schedule.tasks.size());
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    if (links.open[id] == 0) {
      ready.push_back(id);
    }
  }
  // Starts only ever move later as predecessors end, so any order of ready tasks gives the same
  // times.
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const std::size_t id = ready[i];
    const double end_s = out.tasks[id].start_s + seconds(schedule.tasks[id]);
    out.tasks[id].end_s = end_s;
    for (const TaskId later : links.next(id)) {
      const auto index = static_cast<std::size_t>(later);
      out.tasks[index].start_s = std::max(out.tasks[index].start_s, end_s);
      if (--links.open[index] == 0) {
        ready.push_back(index);
      }
    }
  }
  require_all(ready.size(), schedule);
  sum_up(schedule, out);
  return out;
}

namespace {

/// Of each place, and of the slices that it has.
Profile profile_of_places(const Profile& whole, const Schedule& schedule) {
  Profile out = schedule.slices.empty()
                    ? whole
                    : sharded_profile(whole, schedule.slices, schedule.output_bytes);
  for (const schedule::Place lane : schedule.further_lanes) {
    out.places.push_back(out.places[static_cast<std::size_t>(lane)]);
  }
  return out;
}

bool is_of_places(const Schedule& schedule) {
  return schedule.slices.empty() && schedule.further_lanes.empty();
}

bool knows_layers(const Profile& whole, const Schedule& schedule) {
  return std::ranges::all_of(schedule.active_places(), [&](schedule::Place place) {
    const PlaceProfile& costs = whole.places[schedule.lane_of(place)];
    return !costs.alone.forward.empty() || !costs.together.forward.empty();
  });
}

bool knows_tasks(const Profile& of_places, const Schedule& schedule) {
  return std::ranges::all_of(schedule.tasks,
                             [&](const Task& task) { return of_places.knows(task); });
}

}  // namespace

bool can_predict(const Profile& profile, const Schedule& schedule) {
  return knows_layers(profile, schedule) &&
         (is_of_places(schedule) ? knows_tasks(profile, schedule)
                                 : knows_tasks(profile_of_places(profile, schedule), schedule));
}

Simulation simulate(const Schedule& schedule, const Profile& whole) {
  const bool knows = knows_layers(whole, schedule);
  const bool as_measured = is_of_places(schedule);
  const Profile made = as_measured || !knows ? Profile() : profile_of_places(whole, schedule);
  const Profile& profile = as_measured ? whole : made;
  if (!knows || !knows_tasks(profile, schedule)) {
    throw UsageError("policy '" + schedule.policy +
                     "': a lane can't hold the model alone, so the times of its layers are not "
                     "known and nothing can be chosen by them; give the share, cuts or number of "
                     "layers in the deck, or another policy");
  }
  Simulation out =
      schedule.active_places().size() > 1
          ? SharedMachine(schedule, profile).run()
          : simulate(schedule, [&](const Task& task) { return profile.seconds(task, false); });
  out.makespan_s +=
      ends_jointly(schedule, out) ? profile.joint_overhead_s : profile.step_overhead_s;
  return out;
}

}  // namespace zygos::plan
