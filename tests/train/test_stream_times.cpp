// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/queues/stream_times.hpp"

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>
#include <tuple>
#include <vector>

namespace zygos::test_stream_times {
namespace {

using zygos::train::StreamTimes;

/// A stream whose work takes the time that the test says; nothing is known of it before a fence.
struct Stream {
  double now_s = 0.0;
  bool fenced = false;
};

class FakeClock final : public zygos::lane::StreamClock {
 public:
  explicit FakeClock(Stream& stream) : stream_(stream) {}

  void start(double now_s) override {
    stream_ = {.now_s = now_s};
    marks_.clear();
  }
  std::size_t mark() override {
    marks_.push_back(stream_.now_s);
    stream_.fenced = false;
    return marks_.size() - 1;
  }
  std::size_t recorded_mark() override { return mark(); }
  double seconds_at(std::size_t mark) const override {
    if (!stream_.fenced) {
      throw std::logic_error("asked before the stream was fenced");
    }
    return marks_.at(mark);
  }

 private:
  Stream& stream_;
  std::vector<double> marks_;
};

using Record = std::tuple<std::size_t, int, double, double, double>;

std::vector<Record> settled(StreamTimes& times) {
  std::vector<Record> records;
  times.settle([&](std::size_t line, zygos::schedule::TaskId task, double start_s, double end_s,
                   double core_s) { records.emplace_back(line, task, start_s, end_s, core_s); });
  return records;
}

}  // namespace

TEST_CASE("Tasks on a stream are timed by its marks, once it has been fenced", "[train]") {
  Stream stream;
  StreamTimes times(std::make_unique<FakeClock>(stream));
  REQUIRE(times);
  times.start(100.0);
  const std::size_t first = times.mark();
  stream.now_s += 2.0;  // what the kernels of the first task take
  times.note(4, 7, first, 0.5);
  const std::size_t second = times.mark();
  stream.now_s += 0.25;
  times.note(5, 8, second, 0.0);
  CHECK_THROWS_AS(settled(times), std::logic_error);
  stream.fenced = true;

  CHECK(settled(times) ==
        std::vector<Record>{{4, 7, 100.0, 102.0, 0.5}, {5, 8, 102.0, 102.25, 0.0}});
  CHECK(settled(times).empty());  // each is told once
}

TEST_CASE("Tasks of recorded work are timed by the marks that it has", "[train]") {
  Stream stream;
  StreamTimes times(std::make_unique<FakeClock>(stream));
  times.start(10.0);
  const std::size_t begin = times.recorded_mark();
  stream.now_s += 1.5;
  const std::size_t end = times.recorded_mark();
  stream.now_s += 1.0;
  times.note(3, 6, begin, end, 0.25);
  stream.fenced = true;
  CHECK(settled(times) == std::vector<Record>{{3, 6, 10.0, 11.5, 0.25}});
}

TEST_CASE("Tasks of a step that was given up are not told of the next one", "[train]") {
  Stream stream;
  StreamTimes times(std::make_unique<FakeClock>(stream));
  times.start(0.0);
  times.note(0, 1, times.mark(), 0.0);
  times.start(50.0);
  times.note(0, 2, times.mark(), 0.0);
  stream.fenced = true;
  CHECK(settled(times) == std::vector<Record>{{0, 2, 50.0, 50.0, 0.0}});
}

TEST_CASE("A lane whose tasks have ended when they return needs no clock", "[train]") {
  CHECK_FALSE(StreamTimes());
  CHECK_FALSE(StreamTimes(nullptr));
}

}  // namespace zygos::test_stream_times
