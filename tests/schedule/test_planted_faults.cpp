// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The faults a policy is likely to make, each planted in several schedules.
#include "schedule/mutations.hpp"
#include "schedule/order/order.hpp"
#include "schedule/sample_schedules.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <utility>

namespace zygos::schedule::test_planted_faults {
namespace {

using Catch::Matchers::ContainsSubstring;
using test::find_task;
using enum TaskKind;

/// "task 7 (backward@a nodes 0-2 mb 1 samples 2-4 v1)"
std::string named(const Schedule& schedule, std::size_t id) {
  return test::name_start(id) + schedule.name_of(static_cast<TaskId>(id)) + ")";
}

/// The schedule must be sound without the fault; with it, a finding must begin with `begin` and
/// hold `rest`.
void check_found(const Schedule& sound, const Schedule& spoilt, const std::string& begin,
                 const std::string& rest) {
  REQUIRE(validate(sound).empty());
  const auto findings = validate(spoilt);
  CAPTURE(begin, rest, findings);
  CHECK(std::ranges::any_of(findings, [&](const std::string& finding) {
    return finding.starts_with(begin) && finding.find(rest) != std::string::npos;
  }));
}

const Schedule& sound(std::size_t which) {
  static const std::vector<Schedule> all{test::gpipe(2, 3, false),
                                         test::gpipe(3, 3, true),
                                         test::pipedream(3, 5),
                                         test::ring(4),
                                         test::two_place_split(),
                                         test::hub(3),
                                         test::shards()};
  return all.at(which);
}
constexpr std::size_t gpipe2 = 0, gpipe3 = 1, stashing = 2, ring4 = 3, split = 4, hub3 = 5,
                      owners = 6;

TEST_CASE("Fault: a dropped dependency") {
  for (const std::size_t which : {gpipe2, gpipe3, stashing, ring4, split, hub3, owners}) {
    Schedule bad = sound(which);
    const auto task =
        std::ranges::find_if(bad.tasks, [](const Task& each) { return !each.after.empty(); });
    const auto id = static_cast<std::size_t>(task - bad.tasks.begin());
    const auto earlier = static_cast<std::size_t>(task->after.front());
    task->after.clear();
    check_found(sound(which), bad, named(bad, earlier), named(bad, id) + " both use");
  }
}

TEST_CASE("Fault: a swapped buffer") {
  for (const std::size_t which : {gpipe2, gpipe3, stashing}) {
    Schedule bad = sound(which);
    // The second micro-batch's backward works with the first one's activations.
    const std::size_t id = find_task(bad, backward, 1, 1);
    for (Buffer& buffer : bad.tasks[id].reads) {
      if (buffer.kind == BufferKind::activations) {
        buffer.micro_batch = 0;
      }
    }
    check_found(sound(which), bad, named(bad, id), "reads activations@b mb 0");
  }
}

TEST_CASE("Fault: a copy after its reader") {
  const std::size_t id = find_task(sound(split), copy, 1);
  const Schedule bad = test::swapped(sound(split), id, id + 1);
  check_found(sound(split), bad, named(bad, id),
              "reads inputs@device mb 1 before any task has written it");
}

TEST_CASE("Fault: a message that arrives after it was needed") {
  for (const std::size_t which : {gpipe2, gpipe3, stashing}) {
    Schedule bad = sound(which);
    const std::size_t used = find_task(bad, forward, 1);
    const std::size_t late = find_task(bad, receive, 1);
    bad.tasks[used].after.clear();
    bad.tasks[late].after.push_back(static_cast<TaskId>(used));
    check_found(sound(which), bad, named(bad, used),
                "reads boundary@b mb 0 before any task has written it");
  }
}

TEST_CASE("Fault: a version freed early") {
  // The first place keeps one version where it needs two.
  Schedule bad = sound(stashing);
  for (Task& task : bad.tasks) {
    task.slot = std::min(task.slot, 1);
    for (auto* buffers : {&task.reads, &task.writes}) {
      for (Buffer& buffer : *buffers) {
        buffer.slot = buffer.kind == BufferKind::weights ? std::min(buffer.slot, 1) : buffer.slot;
      }
    }
  }
  check_found(sound(stashing), bad, named(bad, find_task(bad, backward, 0, 2)),
              "needs weights v0; weights@a slot 1 holds v1 since " +
                  named(bad, find_task(bad, stash, 0, 1)));
}

TEST_CASE("Fault: a version that is not stashed") {
  const Schedule bad = test::without_task(sound(stashing), find_task(sound(stashing), stash, 1));
  check_found(sound(stashing), bad, named(bad, find_task(bad, backward, 1, 1)),
              "reads weights@b slot 1 before any task has written it");
}

TEST_CASE("Fault: backward with other weights than forward's") {
  Schedule bad = sound(stashing);
  const std::size_t id = find_task(bad, backward, 1, 1);
  const Version current = bad.tasks[id].version + 1;
  bad.tasks[id].version = current;
  bad.tasks[id].slot = 0;
  for (Buffer& buffer : bad.tasks[id].reads) {
    buffer.slot = buffer.kind == BufferKind::weights ? 0 : buffer.slot;
  }
  check_found(sound(stashing), bad, named(bad, id), "uses weights v1; ");
}

TEST_CASE("Fault: a missing receive") {
  for (const std::size_t which : {gpipe2, gpipe3, stashing}) {
    const Schedule bad = test::without_task(sound(which), find_task(sound(which), receive, 1));
    check_found(sound(which), bad, named(bad, find_task(bad, send, 0)), "which nobody reads");
    check_found(sound(which), bad, named(bad, find_task(bad, forward, 1)),
                "reads boundary@b mb 0 before any task has written it");
  }
  const Schedule bad = test::without_task(sound(ring4), find_task(sound(ring4), reduce, 2));
  check_found(sound(ring4), bad, named(bad, find_task(bad, send, 1)), "which nobody reads");
}

TEST_CASE("Fault: a message sent twice") {
  for (const std::size_t which : {gpipe2, stashing, ring4}) {
    const std::size_t id = find_task(sound(which), send, 0);
    const Schedule bad = test::with_twin(sound(which), id);
    check_found(sound(which), bad, named(bad, id + 1),
                "which " + named(bad, id) + " has written: no message is sent twice");
  }
}

TEST_CASE("Fault: the wrong peer") {
  for (const std::size_t which : {gpipe3, stashing, ring4}) {
    Schedule bad = sound(which);
    bad.tasks[find_task(bad, send, 0)].peer = 2;
    const bool adds = which == ring4;
    check_found(sound(which), bad, named(bad, find_task(bad, adds ? reduce : receive, 1)),
                "sends to another place");
    bad = sound(which);
    const std::size_t id = find_task(bad, adds ? reduce : receive, 1);
    bad.tasks[id].peer = 2;
    check_found(sound(which), bad, named(bad, id), "waits for another place, but reads message");
  }
}

TEST_CASE("Fault: a queue order that deadlocks") {
  for (const std::size_t which : {gpipe2, gpipe3}) {
    // The second place wants the second micro-batch's activations first, and sends gradients of the
    // first before the first place sends on.
    Schedule bad = sound(which);
    const std::size_t one = find_task(bad, forward, 1);
    const std::size_t other = find_task(bad, send, 0);
    bad.tasks[other].after.push_back(static_cast<TaskId>(one));
    check_found(sound(which), bad, "deadlock: ", named(bad, one));
    check_found(sound(which), bad, "deadlock: ", named(bad, other));
  }
  // Ring without queues of their own for messages, and the first place, too, receives before it
  // sends.
  Schedule bad = sound(ring4);
  for (Task& task : bad.tasks) {
    task.queue = Queue::compute;
  }
  REQUIRE(validate(bad).empty());
  bad = test::swapped(bad, find_task(bad, send, 0), find_task(bad, reduce, 0));
  const std::string finding = validate(bad).at(0);
  CHECK_THAT(finding, ContainsSubstring("deadlock: ") && ContainsSubstring("reduce@a from d") &&
                          ContainsSubstring("send@d to a"));
}

TEST_CASE("Fault: a micro-batch that is lost") {
  for (const std::size_t which : {gpipe2, gpipe3}) {
    Schedule bad = sound(which);
    for (std::size_t id = bad.tasks.size(); id-- > 0;) {
      const bool of_samples = bad.tasks[id].samples.count() > 0;
      if (of_samples && bad.tasks[id].micro_batch == 1) {
        bad = test::without_task(std::move(bad), id);
      }
    }
    check_found(sound(which), bad, "samples 2-4 are lost", "no task does the loss of them");
    check_found(sound(which), bad, "samples 2-4 are lost",
                "no task does the backward (nodes 0-2) of them");
    check_found(sound(which), bad, named(bad, find_task(bad, update, 0)),
                "before samples 2-4 have been added to it");
  }
}

TEST_CASE("Fault: a micro-batch that is counted twice") {
  for (const std::size_t which : {gpipe2, gpipe3, stashing}) {
    const std::size_t id = find_task(sound(which), backward, 0, 1);
    Schedule bad = test::with_twin(sound(which), id);
    bad.tasks[id + 1].accumulates = true;
    check_found(sound(which), bad, named(bad, id + 1), "a second time");
  }
}

TEST_CASE("Fault: a sum that one of its places does not take part in") {
  // The second place sums what it has by itself.
  Schedule bad = sound(split);
  const std::size_t id = find_task(bad, all_reduce, 1);
  std::erase_if(bad.tasks[id].reads, [](const Buffer& buffer) {
    return buffer.kind == BufferKind::message || buffer.place == 0;
  });
  bad.tasks[id].after.clear();
  check_found(sound(split), bad, named(bad, find_task(bad, broadcast, 0)), "which nobody reads");
}

TEST_CASE("Fault: an all-reduce that does not wait for the others") {
  Schedule bad = sound(split);
  const std::size_t id = find_task(bad, all_reduce, 0);
  bad.tasks[id].after.clear();
  check_found(sound(split), bad, named(bad, find_task(bad, broadcast, 1)),
              named(bad, id) + " both use message 1@device");
}

TEST_CASE("Fault: an update before the gradients are summed") {
  // Each replica's update takes its own share.
  Schedule bad = sound(split);
  const std::size_t id = find_task(bad, update, 0);
  bad.tasks[id].reduced = false;
  for (Buffer& buffer : bad.tasks[id].reads) {
    if (buffer.kind == BufferKind::reduced_gradients) {
      buffer.kind = BufferKind::gradients;
    }
  }
  check_found(sound(split), bad, named(bad, id),
              "takes gradients@host part 0 before samples 3-10 have been added to it");

  // The hub updates before the last worker's gradient is in.
  const std::size_t early = find_task(sound(hub3), update, 0);
  const std::size_t last = find_task(sound(hub3), reduce, 0, 1);
  bad = test::swapped(sound(hub3), early, last);
  derive_order(bad);
  check_found(sound(hub3), bad, named(bad, find_task(bad, update, 0)),
              "before samples 4-6 have been added to it");
}

TEST_CASE("Fault: a missing recompute") {
  const Schedule bad = test::without_task(sound(gpipe3), find_task(sound(gpipe3), recompute, 1));
  check_found(sound(gpipe3), bad, named(bad, find_task(bad, backward, 1)),
              "reads activations@b mb 0 slot 1 before any task has written it");

  // Backward believes that they were kept.
  Schedule other = bad;
  const std::size_t id = find_task(other, backward, 1);
  other.tasks[id].recomputed = false;
  for (Buffer& buffer : other.tasks[id].reads) {
    buffer.slot = buffer.kind == BufferKind::activations ? 0 : buffer.slot;
  }
  check_found(sound(gpipe3), other, named(other, id), "did not keep; a recompute is missing");
}

TEST_CASE("Fault: a gradient that is overwritten instead of added to") {
  for (const std::size_t which : {gpipe2, gpipe3}) {
    Schedule bad = sound(which);
    const std::size_t id = find_task(bad, backward, 1, 1);
    bad.tasks[id].accumulates = false;
    std::erase_if(bad.tasks[id].reads,
                  [](const Buffer& buffer) { return buffer.kind == BufferKind::gradients; });
    check_found(sound(which), bad, named(bad, id),
                "overwrites gradients@b part 1, which " + named(bad, find_task(bad, backward, 1)));
  }
}

TEST_CASE("Fault: a gradient that is added to last step's") {
  Schedule bad = sound(gpipe2);
  const std::size_t id = find_task(bad, backward, 1);
  bad.tasks[id].accumulates = true;
  bad.tasks[id].reads.push_back({BufferKind::gradients, 1, 0, 0, 1});
  check_found(sound(gpipe2), bad, named(bad, id), "reads gradients@b part 1 before any task");
}

TEST_CASE("Fault: the ring stops a round too early") {
  // The last replace on the first place, and what is sent for it, are left out.
  Schedule bad = sound(ring4);
  const std::size_t id = find_task(bad, receive, 0, 2);
  const auto from = static_cast<std::size_t>(bad.tasks[id].after.front());
  bad = test::without_task(test::without_task(std::move(bad), id), from);
  derive_order(bad);
  check_found(sound(ring4), bad, named(bad, find_task(bad, update, 0)), "have been added to it");
}

TEST_CASE("Fault: an order between places that no message carries") {
  for (const std::size_t which : {gpipe2, stashing, ring4, split}) {
    Schedule bad = sound(which);
    const std::size_t earlier = find_task(bad, forward, 0);
    const std::size_t id = find_task(bad, update, 1);
    bad.tasks[id].after.push_back(static_cast<TaskId>(earlier));
    check_found(sound(which), bad, named(bad, id),
                "waits for " + named(bad, earlier) +
                    " of another place, and no message between them carries that order");
  }
}

TEST_CASE("Fault: a message that is no copy, of something that has changed since") {
  // The worker goes on to another gradient while the hub reads its first.
  Schedule bad = sound(hub3);
  Task again = bad.tasks[find_task(bad, backward, 1)];
  const auto hub_read = static_cast<TaskId>(find_task(bad, reduce, 0));
  again.after = {static_cast<TaskId>(find_task(bad, send, 1))};
  bad.tasks.push_back(again);
  check_found(sound(hub3), bad, named(bad, static_cast<std::size_t>(hub_read)),
              "both use gradients@b part 0");
}

TEST_CASE("Fault: replicas that end with different weights") {
  Schedule bad = test::without_task(sound(split), find_task(sound(split), update, 1));
  check_found(sound(split), bad, "stage 0 ends the step with weights v1 on host and v0 on device",
              "");
}

TEST_CASE("Fault: a part that its owner does not update, or does not hand out") {
  const Schedule stale = test::without_task(sound(owners), find_task(sound(owners), update, 1));
  check_found(sound(owners), stale, named(stale, find_task(stale, broadcast, 1)),
              "needs weights v1; weights@b part 1 holds v0");
  Schedule kept = test::without_task(sound(owners), find_task(sound(owners), receive, 0));
  kept = test::without_task(kept, find_task(kept, broadcast, 1));
  check_found(sound(owners), kept,
              "stage 0 ends the step with weights v1 on a part 0 and v0 on a part 1", "");
}

TEST_CASE("Fault: an update of a part by another place than its owner") {
  Schedule bad = sound(owners);
  std::swap(bad.part_owners[0], bad.part_owners[1]);
  check_found(sound(owners), bad, named(bad, find_task(bad, update, 0)),
              "takes elements 0-10, which are no part of its own");
}

TEST_CASE("Fault: an owner's update before all have added to its part") {
  const std::size_t id = find_task(sound(owners), reduce, 0);
  Schedule bad = test::without_task(sound(owners), id);
  bad = test::without_task(bad, find_task(bad, send, 1));
  check_found(sound(owners), bad, named(bad, find_task(bad, update, 0)),
              "takes gradients@a part 0 before samples 2-4 have been added to it");
}

TEST_CASE("Fault: samples of one replica that do not reach those who take all together") {
  const Schedule good = test::gathered();
  const std::size_t received = find_task(good, receive, 2);
  REQUIRE(good.tasks[received].samples == SampleRange{0, 2});
  Schedule bad = test::without_task(good, received);
  bad = test::without_task(bad, find_task(bad, send, 0));
  check_found(good, bad, named(bad, find_task(bad, forward, 2)),
              "starts before activations of stage 0, samples 0-2, have been received");
  bad = good;
  bad.tasks[received].samples = {0, 3};
  check_found(good, bad, named(bad, received), "expects samples 0-3");
  bad = good;
  bad.tasks[received].samples = {0, 6};
  check_found(good, bad, named(bad, received), "works on samples 0-6; micro-batch 2 has 0-5");
}

TEST_CASE("Fault: parts of which not all have an owner") {
  Schedule bad = sound(owners);
  bad.part_owners.pop_back();
  check_found(sound(owners), bad, "the schedule has 2 parts and says the owners of 1", "");
}

TEST_CASE("Fault: an average of something that is no kept version") {
  const Schedule averaging = test::pipedream(3, 4, true);
  Schedule bad = averaging;
  const std::size_t id = find_task(bad, average, 0);
  for (Buffer& buffer : bad.tasks[id].reads) {
    buffer.part = buffer.slot > 0 ? 1 : 0;
  }
  check_found(averaging, bad, named(bad, id),
              "reads weights@a slot 1 part 1, which its average has no business with");
}

TEST_CASE("Fault: a stage that is not updated") {
  const Schedule bad = test::without_task(sound(gpipe2), find_task(sound(gpipe2), update, 1));
  check_found(sound(gpipe2), bad, named(bad, find_task(bad, backward, 1)),
              "makes a gradient, but no task updates stage 1");
}

}  // namespace
}  // namespace zygos::schedule::test_planted_faults
