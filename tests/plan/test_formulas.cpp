// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/formulas.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <vector>

namespace zygos::plan::test_formulas {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

/// C1, S2, C3, S4, C5, F6, output in the form that is usual today.
const std::vector<LayerSize> lenet5{
    convolution_size(1, 6, 5, 32, 28, 2),
    convolution_size(6, 16, 5, 14, 10, 2),
    convolution_size(16, 120, 5, 5, 1),
    dense_size(120, 84),
    dense_size(84, 10),
};

const std::vector<LayerSize> cifar10_quick{
    convolution_size(3, 32, 5, 32, 32, 2),
    convolution_size(32, 32, 5, 16, 16, 2),
    convolution_size(32, 64, 5, 8, 8, 2),
    dense_size(1024, 64),
    dense_size(64, 10),
};

TEST_CASE("80 % more throughput from 57 % less memory is 4.18 times the memory efficiency") {
  CHECK_THAT(memory_efficiency(1.80, 0.43), WithinAbs(4.18, 0.01));
  CHECK(memory_efficiency(1.0, 1.0) == 1.0);
}

TEST_CASE("The bubble of a pipeline and its speed-up are those of GPipe's paper") {
  CHECK_THAT(pipeline_bubble(2, 8), WithinRel(1.0 / 9.0));
  CHECK_THAT(pipeline_bubble(4, 1), WithinRel(0.75));
  CHECK(pipeline_bubble(1, 5) == 0.0);
  CHECK_THAT(pipeline_speedup(2, 8), WithinAbs(1.78, 0.005));
  CHECK_THAT(pipeline_speedup(4, 8), WithinAbs(2.91, 0.005));
  CHECK_THAT(pipeline_speedup(8, 32), WithinAbs(6.56, 0.005));
  // What is not idle is the speed-up's part of K.
  CHECK_THAT(1.0 - pipeline_bubble(3, 7), WithinRel(pipeline_speedup(3, 7) / 3.0));
}

TEST_CASE("A ring of one moves nothing, larger ones by the formula") {
  CHECK(ring_bytes(1, 1000) == 0);
  CHECK(ring_messages(1) == 0);
  CHECK(ring_seconds(1, 1000, 1.0, 1.0, 1.0) == 0.0);
  CHECK(ring_bytes(2, 1000) == 2000);
  CHECK(ring_messages(2) == 4);
  CHECK(ring_bytes(4, 1000) == 6000);
  CHECK(ring_messages(4) == 24);
  CHECK_THAT(ring_seconds(4, 1000, 0.5, 0.01, 0.002), WithinRel(6 * 0.5 + 15.0 + 1.5));
}

TEST_CASE("A cut is crossed by activations and by as many gradients") {
  CHECK(cut_bytes(256, 4096) == 2 * 256 * 4096);
}

TEST_CASE("Buckets take gradients whole, in order, up to their size") {
  const std::array<std::int64_t, 6> bytes{40, 60, 1, 0, 250, 10};

  CHECK(bucket_count(bytes, 100) == 4);  // 40 + 60, 1, 250, 10
  CHECK(bucket_count(bytes, 1000) == 1);
  CHECK(bucket_count(bytes, 1) == 5);
  CHECK(bucket_count({}, 100) == 0);
}

TEST_CASE("A second place gains at most its share of the rates") {
  CHECK(split_bound(1.0, 4.0) == 1.25);
  CHECK(split_bound(3.0, 3.0) == 2.0);
}

TEST_CASE("LeNet-5 has 61706 parameters and 1790 values between its layers") {
  const TrafficBalance balance(lenet5);

  CHECK(lenet5[0].parameters == 156);
  CHECK(lenet5[1].parameters == 2416);
  CHECK(lenet5[2].parameters == 48120);
  CHECK(lenet5[3].parameters == 10164);
  CHECK(lenet5[4].parameters == 850);
  CHECK(balance.parameters() == 61706);
  CHECK(balance.values_per_sample() == 1790);
}

TEST_CASE(
    "The calculator gives the published N <= 35 and the right B < 34.5, and says which is which") {
  const TrafficBalance balance(lenet5);

  CHECK(balance.workers_as_published() == 35);
  CHECK_THAT(balance.batch_bound(), WithinAbs(34.47, 0.005));
  CHECK(balance.largest_batch() == 34);
  CHECK_THAT(balance.text(), ContainsSubstring("below M/D = 61706 parameters / 1790 values per "
                                               "sample = 34.5 samples (B <= 34), however many"));
  CHECK_THAT(balance.text(),
             ContainsSubstring("the published form") && ContainsSubstring("N <= 35 workers"));
}

TEST_CASE("Both bounds are strict") {
  const TrafficBalance balance(100, 10);

  CHECK(balance.batch_bound() == 10.0);
  CHECK(balance.largest_batch() == 9);
  CHECK(balance.workers_as_published() == 10);
}

TEST_CASE("cifar10_quick changes sides at a batch of 12.8") {
  const TrafficBalance balance(cifar10_quick);

  CHECK(balance.parameters() == 145578);
  CHECK(balance.values_per_sample() == 11338);
  CHECK_THAT(balance.batch_bound(), WithinAbs(12.8, 0.05));
}

TEST_CASE("By layer, wide dense layers are divided by model and convolutions by data") {
  const auto bound = [](const LayerSize& layer) { return batch_bound(layer); };

  CHECK(bound(lenet5[0]) < 3.0);
  CHECK(bound(lenet5[1]) < 3.0);
  CHECK_THAT(bound(lenet5[2]), WithinAbs(120.0, 0.5));
  CHECK_THAT(bound(lenet5[3]), WithinAbs(85.0, 0.5));
  CHECK_THAT(bound(lenet5[4]), WithinAbs(10.0, 0.5));
  CHECK_THAT(bound(dense_size(9216, 4096)), WithinAbs(4096.0, 0.5));
  CHECK(divides_by_model(lenet5[2], 100));
  CHECK_FALSE(divides_by_model(lenet5[2], 121));
  CHECK_FALSE(divides_by_model(lenet5[0], 3));
  CHECK(divides_by_model(dense_size(9216, 4096), 4096));
  CHECK_FALSE(divides_by_model(dense_size(9216, 4096), 4097));
}

}  // namespace
}  // namespace zygos::plan::test_formulas
