// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/trained/prediction_source.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/sample_reader.hpp"
#include "zygos/io/sample_source.hpp"
#include "zygos/load/data.hpp"

#include <fmt/format.h>

#include <utility>

namespace zygos::app {
namespace {

void require_width(const std::string& name, const Shape& sample, const graph::Graph& graph) {
  const Shape& input = graph.input_shape();
  if (sample.size() != input.size()) {
    throw DataError(
        fmt::format("{}: found {} values per sample, {}; the model's input is {}, {} "
                    "values",
                    name, sample.size(), sample.text(), input.text(), input.size()));
  }
}

class FileSource final : public PredictionSource {
 public:
  FileSource(std::string file, const std::string& dataset, const std::vector<std::string>& columns,
             const deck::DataSpec& spec, const graph::Graph& graph)
      : name_(std::move(file)), reader_(io::open_samples(name_, dataset, columns)), graph_(graph) {
    require_width(name_, reader_->sample_shape(), graph);
    scale_ = spec.scale.value_or(reader_->dtype() == DType::u8 ? 1.0 / 255.0 : 1.0);
    offset_ = spec.offset;
  }

  const std::string& name() const override { return name_; }
  std::int64_t samples() const override { return reader_->samples(); }

  io::Dataset next(std::int64_t count) override {
    io::Dataset part;
    part.name = name_;
    part.input_scale = scale_;
    part.input_offset = offset_;
    part.first = done_;
    part.inputs.dtype = reader_->dtype();
    part.inputs.shape = reader_->sample_shape().with_leading(count);
    const auto bytes = io::allocate_bytes(part.inputs.bytes(), name_);
    reader_->read(count, bytes.get());
    part.inputs.data = bytes;
    load::require_tokens(graph_, part);
    done_ += count;
    return part;
  }

 private:
  std::string name_;
  std::unique_ptr<io::SampleReader> reader_;
  const graph::Graph& graph_;
  double scale_ = 1.0;
  double offset_ = 0.0;
  std::int64_t done_ = 0;
};

class TestSetSource final : public PredictionSource {
 public:
  TestSetSource(io::Dataset data, const graph::Graph& graph) : data_(std::move(data)) {
    require_width(data_.name, data_.sample_shape(), graph);
    load::require_tokens(graph, data_);
  }

  const std::string& name() const override { return data_.name; }
  std::int64_t samples() const override { return data_.size(); }

  io::Dataset next(std::int64_t count) override {
    io::Dataset part = io::samples_in_memory(data_, done_, count);
    done_ += count;
    return part;
  }

 private:
  io::Dataset data_;
  std::int64_t done_ = 0;
};

/// The array that the deck reads its own inputs from, if it reads HDF5.
std::string dataset_of(const deck::DataSpec& spec) {
  return spec.format == deck::DataFormat::hdf5 ? spec.train.inputs_dataset : "inputs";
}

}  // namespace

std::unique_ptr<PredictionSource> prediction_source(
    const deck::RunSpec& spec, deck::Findings findings, const graph::Graph& graph,
    const std::string& file, const std::string& dataset, const std::vector<std::string>& columns) {
  if (!file.empty()) {
    return std::make_unique<FileSource>(file, dataset.empty() ? dataset_of(spec.data) : dataset,
                                        columns, spec.data, graph);
  }
  load::RunData data = load::load_data(spec, std::move(findings));
  if (!data.test) {
    data.test = std::move(data.validation);
  }
  if (!data.test) {
    throw UsageError("the deck names no test data; give --input FILE to predict from");
  }
  return std::make_unique<TestSetSource>(std::move(*data.test), graph);
}

}  // namespace zygos::app
