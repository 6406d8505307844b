// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Batches read from a file beside the same ones out of memory.
#include "io/hdf5/hdf5_handles.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/batch_feed.hpp"
#include "zygos/io/checkpoint_store.hpp"
#include "zygos/io/hdf5_dataset.hpp"
#include "zygos/io/sample_source.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace zygos::test_batch_feed {
namespace {

namespace fs = std::filesystem;
namespace h5 = zygos::io::hdf5;
using Catch::Matchers::ContainsSubstring;
using zygos::DType;
using zygos::Shape;
using zygos::io::BatchFeed;
using zygos::io::Dataset;
using zygos::io::FedBatch;
using zygos::io::FeedOptions;
using zygos::test::TemporaryFolder;

constexpr std::int64_t samples = 103;

/// How an array lies in its file.
struct Storage {
  std::string name;
  hid_t (*type)();
  bool chunked;
  bool packed;
};

const std::vector<Storage> storages{
    {"contiguous f32", []() -> hid_t { return H5T_IEEE_F32LE; }, false, false},
    {"contiguous f64, other byte order", []() -> hid_t { return H5T_IEEE_F64BE; }, false, false},
    {"contiguous i16", []() -> hid_t { return H5T_STD_I16LE; }, false, false},
    {"contiguous u8", []() -> hid_t { return H5T_STD_U8LE; }, false, false},
    {"chunked f32", []() -> hid_t { return H5T_IEEE_F32LE; }, true, false},
    {"packed f64", []() -> hid_t { return H5T_IEEE_F64LE; }, true, true},
};

template <class T>
void write(const h5::File& file, const std::string& name, hid_t type, const Shape& shape,
           const std::vector<T>& values, const Storage& storage) {
  const h5::Space space = h5::make_space(shape);
  const h5::PropertyList properties(H5Pcreate(H5P_DATASET_CREATE), "properties");
  if (storage.chunked) {
    std::array<hsize_t, Shape::max_rank> chunk{};
    chunk[0] = 10;
    for (std::size_t axis = 1; axis < shape.rank(); ++axis) {
      chunk[axis] = static_cast<hsize_t>(std::min<std::int64_t>(2, shape[axis]));
    }
    H5Pset_chunk(properties, static_cast<int>(shape.rank()), chunk.data());
  }
  if (storage.packed) {
    H5Pset_shuffle(properties);
    H5Pset_deflate(properties, 4);
  }
  const h5::Dataset data(
      H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT), "make");
  h5::check(H5Dwrite(data, h5::memory_type(zygos::dtype_of<T>), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                     values.data()),
            "write");
}

/// Inputs [N, 3, 5] that count, with `targets` under the name "targets".
template <class T>
void write_set(const fs::path& path, const Storage& storage, const Shape& target_shape,
               const std::vector<T>& targets) {
  const h5::Session session;
  const h5::File file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "create");
  std::vector<double> inputs(static_cast<std::size_t>(samples * 15));
  std::iota(inputs.begin(), inputs.end(), 0.0);
  for (double& value : inputs) {
    value = static_cast<double>(static_cast<int>(value) % 251);
  }
  write(file, "inputs", storage.type(), Shape{samples, 3, 5}, inputs, storage);
  write(file, "targets", h5::file_type(zygos::dtype_of<T>), target_shape, targets, storage);
}

std::vector<std::int32_t> labels_of(std::int64_t count, std::int32_t classes) {
  std::vector<std::int32_t> labels(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = static_cast<std::int32_t>(2 * i) % classes;
  }
  return labels;
}

zygos::io::LoadOptions of_classes(std::int64_t classes) {
  zygos::io::LoadOptions options;
  options.classes = classes;
  return options;
}

/// What a model gets of a batch: inputs, targets, ids.
std::vector<double> content_of(const FedBatch& batch, bool labels) {
  const auto at = batch.rows.empty() ? batch.ids : batch.rows;
  std::vector<double> inputs(at.size() * static_cast<std::size_t>(batch.inputs.row_elements));
  zygos::io::gather(batch.inputs, at, inputs.data());
  std::vector<double> targets(at.size() * static_cast<std::size_t>(batch.targets.row_elements));
  if (labels) {
    std::vector<std::int32_t> whole(targets.size());
    zygos::io::gather_labels(batch.targets, at, whole.data());
    std::ranges::copy(whole, targets.begin());
  } else {
    zygos::io::gather(batch.targets, at, targets.data());
  }
  inputs.insert(inputs.end(), targets.begin(), targets.end());
  inputs.insert(inputs.end(), batch.ids.begin(), batch.ids.end());
  return inputs;
}

/// Steps `first` to `last` of both have the same content.
void require_same(const Dataset& here, const Dataset& there, const FeedOptions& options,
                  std::int64_t first, std::int64_t last) {
  BatchFeed memory(here, options);
  BatchFeed file(there, options);
  memory.seek(first, last);
  file.seek(first, last);
  for (std::int64_t step = first; step <= last; ++step) {
    CAPTURE(step);
    REQUIRE(content_of(file.next(), there.classes > 0) ==
            content_of(memory.next(), here.classes > 0));
  }
  CHECK_THROWS_AS(file.next(), zygos::UsageError);
  CHECK_THROWS_AS(memory.next(), zygos::UsageError);
}

/// A source of samples 0, 1, 2, ... that takes its time.
class SlowSource final : public zygos::io::SampleSource {
 public:
  explicit SlowSource(std::chrono::milliseconds time) : time_(time) {}
  void read(std::int64_t first, std::int64_t count, std::byte* inputs,
            std::byte* targets) const override {
    std::this_thread::sleep_for(time_);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<float>(first + i);
      std::memcpy(inputs + 4 * i, &value, 4);
      std::memcpy(targets + 4 * i, &value, 4);
    }
  }
  void announce(std::int64_t, std::int64_t) const override {}
  std::size_t bytes() const override { return 0; }

 private:
  std::chrono::milliseconds time_;
};

Dataset slow_data(std::chrono::milliseconds time) {
  Dataset data;
  data.name = "slow";
  data.inputs = {DType::f32, Shape{64, 1}, nullptr};
  data.targets = {DType::f32, Shape{64, 1}, nullptr};
  data.source = std::make_shared<SlowSource>(time);
  return data;
}

}  // namespace

TEST_CASE("Batches read from a file are those of the set in memory, however it is stored") {
  const TemporaryFolder folder("feed-storage");
  const fs::path file = folder.path() / "set.h5";
  for (const Storage& storage : storages) {
    write_set(file, storage, Shape{samples}, labels_of(samples, 7));
    const Dataset here = zygos::io::load_hdf5_dataset({file, "inputs"}, {file, "targets"});
    Dataset there = zygos::io::open_hdf5_dataset({file, "inputs"}, {file, "targets"});
    CAPTURE(storage.name);
    CHECK(there.inputs.data == nullptr);
    CHECK(there.classes == 7);
    CHECK(there.input_scale == here.input_scale);
    CHECK(there.sample_shape() == here.sample_shape());
    for (const bool shuffle : {false, true}) {
      for (const std::int64_t prefetch : {1, 3}) {
        there.prefetch = prefetch;
        // Over two ends of epochs, with and without the last seven samples.
        require_same(here, there, {.batch = 16, .shuffle = shuffle, .drop_last = false, .seed = 9},
                     1, 17);
        require_same(here, there, {.batch = 16, .shuffle = shuffle, .drop_last = true, .seed = 9},
                     5, 14);
      }
    }
  }
}

TEST_CASE("Numbers and many labels as targets are read from a file, too") {
  const TemporaryFolder folder("feed-targets");
  const fs::path file = folder.path() / "set.h5";
  for (const Storage& storage : storages) {
    CAPTURE(storage.name);
    std::vector<double> numbers(samples * 4);
    std::iota(numbers.begin(), numbers.end(), -7.5);
    write_set(file, storage, Shape{samples, 2, 2}, numbers);
    require_same(zygos::io::load_hdf5_dataset({file, "inputs"}, {file, "targets"}),
                 zygos::io::open_hdf5_dataset({file, "inputs"}, {file, "targets"}),
                 {.batch = 20, .shuffle = true}, 1, 9);

    write_set(file, storage, Shape{samples, 3}, labels_of(samples * 3, 5));
    CHECK_THROWS_WITH(zygos::io::open_hdf5_dataset({file, "inputs"}, {file, "targets"}),
                      ContainsSubstring("give the number of classes"));
    require_same(zygos::io::load_hdf5_dataset({file, "inputs"}, {file, "targets"}),
                 zygos::io::open_hdf5_dataset({file, "inputs"}, {file, "targets"}, of_classes(5)),
                 {.batch = 20, .shuffle = true}, 4, 9);
  }
}

TEST_CASE("What a feed takes of memory is known before it is made") {
  const TemporaryFolder folder("feed-bytes");
  const fs::path file = folder.path() / "set.h5";
  write_set(file, storages.front(), Shape{samples}, labels_of(samples, 7));
  Dataset data = zygos::io::open_hdf5_dataset({file, "inputs"}, {file, "targets"});
  data.prefetch = 3;
  FeedOptions options{.batch = 16};
  // Five batches of 15 numbers and a label, and of every sample its label and its place.
  const std::size_t read = 5 * 16 * 64 + samples * 8;
  const Dataset loaded = zygos::io::load_hdf5_dataset({file, "inputs"}, {file, "targets"});

  CHECK(zygos::io::feed_bytes(data, options) == read);
  CHECK(BatchFeed(data, options).bytes() == read);
  CHECK(zygos::io::feed_bytes(loaded, options) == 0);
  options.augmentation.noise = 0.1;
  CHECK(zygos::io::feed_bytes(data, options) == read + zygos::io::feed_bytes(loaded, options));
  CHECK(zygos::io::feed_bytes(loaded, options) == BatchFeed(loaded, options).bytes());
}

TEST_CASE("Parts of a set come into memory alike") {
  const TemporaryFolder folder("feed-parts");
  const fs::path file = folder.path() / "set.h5";
  write_set(file, storages.front(), Shape{samples}, labels_of(samples, 7));
  const Dataset here = zygos::io::load_hdf5_dataset({file, "inputs"}, {file, "targets"});
  const Dataset there = zygos::io::open_hdf5_dataset({file, "inputs"}, {file, "targets"});

  const Dataset part = zygos::io::samples_in_memory(there, 90, 13);

  const Dataset same = zygos::io::samples_in_memory(here, 90, 13);
  CHECK(part.inputs.shape == Shape{13, 3, 5});
  CHECK(std::ranges::equal(part.inputs.as<float>(), same.inputs.as<float>()));
  CHECK(std::ranges::equal(part.inputs.as<float>(), here.inputs.as<float>().subspan(90 * 15)));
  CHECK(std::ranges::equal(part.targets.as<std::int32_t>(), same.targets.as<std::int32_t>()));
  CHECK_THROWS_AS(zygos::io::samples_in_memory(there, 91, 13), zygos::UsageError);
  CHECK_THROWS_WITH(there.inputs.as<float>(), ContainsSubstring("not in memory"));
  CHECK_THROWS_WITH(zygos::io::rows_of(there), ContainsSubstring("BatchFeed"));
}

TEST_CASE("A bad value is named in its batch, with its place in the file") {
  const TemporaryFolder folder("feed-values");
  const fs::path file = folder.path() / "set.h5";
  std::vector<double> numbers(samples, 0.5);
  numbers[77] = std::numeric_limits<double>::quiet_NaN();
  numbers[99] = 3.0;
  for (const std::size_t storage : {0U, 4U}) {
    write_set(file, storages[storage], Shape{samples, 1}, numbers);
    const Dataset data = zygos::io::open_hdf5_dataset({file, "inputs"}, {file, "targets"});
    zygos::io::require_targets_within(data, 0.0, 1.0, "loss 'bce'");
    zygos::io::require_tokens(data, 200, "layer 'words'");
    BatchFeed feed(data, {.batch = 10});
    // Inputs count to 250 and begin anew: token 200 is in sample 13.
    feed.seek(1, 11);
    CHECK(feed.next().ids.size() == 10);
    CHECK_THROWS_WITH(feed.next(), ContainsSubstring("found 200 in element 5 of sample 13"));
    CHECK_THROWS_AS(feed.next(), zygos::DataError);

    const Dataset again = zygos::io::open_hdf5_dataset({file, "inputs"}, {file, "targets"});
    zygos::io::require_targets_within(again, 0.0, 1.0, "loss 'bce'");
    BatchFeed later(again, {.batch = 10});
    later.seek(7, 11);
    CHECK(later.next().ids.front() == 60);
    CHECK_THROWS_WITH(later.next(),
                      ContainsSubstring("data set 'targets', element 77: found NaN") &&
                          ContainsSubstring("sample 77"));
    later.seek(9, 11);
    later.next();
    CHECK_THROWS_WITH(later.next(), ContainsSubstring("found target 3 in element 0 of sample 99"));
  }
  write_set(file, storages.front(), Shape{samples, 3}, labels_of(samples * 3, 5));
  const Dataset labels =
      zygos::io::open_hdf5_dataset({file, "inputs"}, {file, "targets"}, of_classes(4));
  BatchFeed feed(labels, {.batch = 100});
  feed.seek(1, 1);
  CHECK_THROWS_WITH(feed.next(), ContainsSubstring("found label 4 of sample 0"));
}

TEST_CASE("A file that is cut off while it is read ends the feed with an I/O error") {
  const TemporaryFolder folder("feed-cut");
  const fs::path file = folder.path() / "set.h5";
  write_set(file, storages.front(), Shape{samples}, labels_of(samples, 7));
  Dataset data = zygos::io::open_hdf5_dataset({file, "inputs"}, {file, "targets"});
  data.prefetch = 1;
  BatchFeed feed(data, {.batch = 10});
  fs::resize_file(file, 3000);
  feed.seek(1, 11);
  try {
    for (int step = 0; step < 11; ++step) {
      feed.next();
    }
    FAIL("a file of 3,000 bytes has not all samples");
  } catch (const zygos::IoError& error) {
    CHECK_THAT(error.what(),
               ContainsSubstring("cannot be read: the file has no byte 3000 any more"));
  }
}

TEST_CASE("A file that is too short is refused when it is opened") {
  const TemporaryFolder folder("feed-short");
  const fs::path file = folder.path() / "set.h5";
  write_set(file, storages.front(), Shape{samples}, labels_of(samples, 7));
  fs::resize_file(file, fs::file_size(file) - 100);
  CHECK_THROWS_AS(zygos::io::open_hdf5_dataset({file, "inputs"}, {file, "targets"}),
                  zygos::DataError);
  CHECK_THROWS_AS(zygos::io::open_hdf5_dataset({file, "inputs"}, {file, "absent"}),
                  zygos::DataError);
  CHECK_THROWS_AS(
      zygos::io::open_hdf5_dataset({folder.path() / "none.h5", "inputs"}, {file, "targets"}),
      zygos::IoError);
}

TEST_CASE("Waiting for a slow file is measured, and a feed may end in its midst") {
  const Dataset data = slow_data(std::chrono::milliseconds(20));
  BatchFeed feed(data, {.batch = 8});
  feed.seek(1, 8);
  for (int step = 0; step < 8; ++step) {
    const FedBatch batch = feed.next();
    CHECK(content_of(batch, false).front() == 8.0 * step);
  }
  // Nobody does anything but wait: all reads, less what the first call found begun.
  CHECK(feed.waited_s() > 0.1);
  CHECK(feed.waited_s() < 5.0);

  const double waited = feed.waited_s();
  feed.seek(3, 8);
  CHECK(content_of(feed.next(), false).front() == 16.0);
  feed.seek(1, 8);  // while others are being read
  CHECK(content_of(feed.next(), false).front() == 0.0);
  CHECK(feed.waited_s() > waited);
}

TEST_CASE("What is read ahead is not waited for, and has its memory") {
  Dataset data = slow_data(std::chrono::milliseconds(1));
  data.prefetch = 6;
  BatchFeed feed(data, {.batch = 8});
  CHECK(feed.bytes() == 8 * 8 * 8 + 64 * 4);  // and the two that a caller may look at; the order
  feed.seek(1, 6);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  for (int step = 0; step < 6; ++step) {
    CHECK(content_of(feed.next(), false).front() == 8.0 * step);
  }
  CHECK(feed.waited_s() == 0.0);
}

TEST_CASE("Checkpoints are written and read while samples are") {
  const TemporaryFolder folder("feed-checkpoints");
  const fs::path file = folder.path() / "set.h5";
  write_set(file, storages.back(), Shape{samples}, labels_of(samples, 7));
  const Dataset here = zygos::io::load_hdf5_dataset({file, "inputs"}, {file, "targets"});
  const Dataset there = zygos::io::open_hdf5_dataset({file, "inputs"}, {file, "targets"});
  BatchFeed memory(here, {.batch = 10, .shuffle = true});
  BatchFeed feed(there, {.batch = 10, .shuffle = true});
  memory.seek(1, 60);
  feed.seek(1, 60);
  zygos::io::CheckpointStore store(folder.path() / "checkpoints", 2);
  const std::vector<double> weights(1000, 0.25);
  for (std::int64_t step = 1; step <= 60; ++step) {
    REQUIRE(content_of(feed.next(), true) == content_of(memory.next(), true));
    if (step % 10 == 0) {
      const std::vector<zygos::io::TensorRef> tensors{
          {"weights/w", DType::f64, Shape{1000}, weights.data()}};
      store.write(step, tensors, {});
      CHECK(store.load_newest()->step == step);
    }
  }
}

}  // namespace zygos::test_batch_feed
