// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"
#include "app/kokkos_session.hpp"
#include "app/run/lane_choice.hpp"
#include "app/text.hpp"
#include "app/trained/predicted_classes.hpp"
#include "app/trained/prediction_source.hpp"
#include "app/trained/probabilities.hpp"
#include "app/trained/saved_model.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/array_writer.hpp"
#include "zygos/io/batching.hpp"
#include "zygos/load/data_facts.hpp"
#include "zygos/load/model.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace zygos::app {

namespace fs = std::filesystem;

namespace {

/// Samples are read, predicted and written in pieces of about so many bytes.
constexpr std::int64_t piece_bytes = std::int64_t{8} << 20;

/// Everything of one prediction. T: of the outputs that are written.
template <class T>
class Predictor {
 public:
  Predictor(const load::SavedModel& saved, const Invocation& invocation, PredictionSource& source,
            Console& console)
      : invocation_(invocation),
        source_(source),
        console_(console),
        model_(load::model_of(saved, {.block = batch_of(saved, invocation)})),
        classes_(PredictedClasses::of(saved.graph.loss(), saved.graph.output_shape())),
        probabilities_(probabilities_of(saved, invocation)),
        names_(load::data_facts_in(saved.checkpoint.facts).class_names),
        exec_(invocation.threads.value_or(this_machine().cores)) {
    if (invocation.classes && !classes_) {
      throw UsageError(fmt::format(
          "--classes names the class of every sample, but loss '{}' tells no classes from each "
          "other; leave it out",
          saved.graph.loss().type()));
    }
    auto written = arrays();
    arrays_ = written.size();
    writer_ = io::write_arrays(invocation.output, source.samples(), std::move(written));
  }

  void run() {
    const auto begun = std::chrono::steady_clock::now();
    const std::int64_t samples = source_.samples();
    const std::int64_t most = piece();
    for (std::int64_t done = 0; done < samples;) {
      const std::int64_t count = std::min(most, samples - done);
      predict(count);
      done += count;
      seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
      show(done, samples);
    }
    writer_->commit();
  }

  const std::optional<LabelHits>& hits() const noexcept { return hits_; }
  double seconds() const noexcept { return seconds_; }
  int threads() const { return exec_.concurrency(); }
  std::int64_t block() const noexcept { return model_.block(); }

 private:
  /// That of training unless told: the bits of `zygos eval`.
  static std::int64_t batch_of(const load::SavedModel& saved, const Invocation& invocation) {
    return invocation.batch.value_or(saved.deck.spec.train.batch);
  }

  static std::optional<Probabilities> probabilities_of(const load::SavedModel& saved,
                                                       const Invocation& invocation) {
    if (!invocation.probabilities) {
      return std::nullopt;
    }
    auto found = Probabilities::of(saved.graph.loss(), saved.graph.output_shape());
    if (!found) {
      throw UsageError(fmt::format(
          "--probabilities makes probabilities of the logits in front of cross_entropy and bce, "
          "but the loss is '{}'; leave it out",
          saved.graph.loss().type()));
    }
    return found;
  }

  std::vector<io::OutputArray> arrays() const {
    std::vector<io::OutputArray> arrays;
    const bool one = fs::path(invocation_.output).extension() == ".npy";
    if (!invocation_.classes) {
      arrays.push_back({probabilities_ ? "probability" : "prediction", dtype_of<T>,
                        model_.graph().output_shape()});
    }
    if (classes_ && (invocation_.classes || !one)) {
      arrays.push_back({"class", DType::i32, classes_->shape(), names_});
    }
    return arrays;
  }

  /// Samples of one piece, whole blocks.
  std::int64_t piece() const {
    const std::int64_t bytes =
        (model_.graph().input_shape().size() + model_.graph().output_shape().size()) *
        static_cast<std::int64_t>(sizeof(double));
    const std::int64_t block = model_.block();
    return std::max<std::int64_t>(piece_bytes / (bytes * block), 1) * block;
  }

  void predict(std::int64_t count) {
    const io::Dataset part = source_.next(count);
    const auto samples = static_cast<std::size_t>(count);
    const auto features = static_cast<std::size_t>(model_.graph().input_shape().size());
    const auto width = static_cast<std::size_t>(model_.graph().output_shape().size());
    inputs_.resize(samples * features);
    outputs_.resize(samples * width);
    io::gather(part, io::first_ids(count), inputs_.data());
    using Rows = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    model_.predict(exec_, Rows(inputs_.data(), samples, features),
                   Rows(outputs_.data(), samples, width));
    exec_.fence("zygos::app::predict");
    require_finite(part);
    std::vector<const void*> columns;
    if (!invocation_.classes) {
      columns.push_back(outputs_.data());
    }
    if (classes_) {
      named_.resize(samples * static_cast<std::size_t>(classes_->shape().size()));
      classes_->name(outputs_.data(), count, named_.data());
      count_hits(part);
      columns.push_back(named_.data());
    }
    if (probabilities_) {  // behind the classes: rounded, two of them may be equal
      probabilities_->replace(outputs_.data(), count);
    }
    writer_->write(count, std::span(columns).first(arrays_));
  }

  void count_hits(const io::Dataset& part) {
    if (part.classes == 0) {
      return;
    }
    std::vector<std::int32_t> labels(named_.size());
    io::gather_labels(part, io::first_ids(part.size()), labels.data());
    hits_ = hits_.value_or(LabelHits());
    hits_->add(named_, labels);
  }

  void require_finite(const io::Dataset& part) const {
    const auto bad = std::ranges::find_if(outputs_, [](T value) { return !std::isfinite(value); });
    if (bad != outputs_.end()) {
      const auto width = static_cast<std::ptrdiff_t>(model_.graph().output_shape().size());
      throw NumericError(fmt::format(
          "the prediction of sample {} of {} is not finite; is it in the range of the training "
          "data? Nothing was written",
          part.first + (bad - outputs_.begin()) / width, source_.name()));
    }
  }

  void show(std::int64_t done, std::int64_t samples) {
    console_.status(fmt::format("{} / {} samples  {} samples/s", text_of_count(done),
                                text_of_count(samples),
                                text_of_rate(static_cast<double>(done) / seconds_)));
  }

  const Invocation& invocation_;
  PredictionSource& source_;
  Console& console_;
  infer::Model model_;
  std::optional<PredictedClasses> classes_;
  std::optional<Probabilities> probabilities_;  ///< what is written in place of outputs
  std::vector<std::string> names_;              ///< of classes, if they have any
  Kokkos::OpenMP exec_;
  std::unique_ptr<io::ArrayWriter> writer_;
  std::size_t arrays_ = 0;  ///< that are written
  std::vector<T> inputs_;
  std::vector<T> outputs_;
  std::vector<std::int32_t> named_;
  std::optional<LabelHits> hits_;
  double seconds_ = 0.0;
};

template <class T>
void predict(const load::SavedModel& saved, const Invocation& invocation, Console& console) {
  const auto source = prediction_source(saved.deck.spec, saved.deck.deck.findings(), saved.graph,
                                        invocation.input, invocation.dataset,
                                        load::data_facts_in(saved.checkpoint.facts).input_names);
  Predictor<T> prediction(saved, invocation, *source, console);
  console.note(fmt::format("predicting {} samples of {} with {}", text_of_count(source->samples()),
                           source->name(), saved.checkpoint.path.string()));
  prediction.run();
  const double rate = static_cast<double>(source->samples()) / prediction.seconds();
  nlohmann::json object{{"checkpoint", saved.checkpoint.path.string()},
                        {"step", saved.checkpoint.step},
                        {"samples", source->samples()},
                        {"output", invocation.output},
                        {"batch", prediction.block()},
                        {"threads", prediction.threads()},
                        {"seconds", prediction.seconds()},
                        {"samples_per_s", rate}};
  std::string text =
      fmt::format("{} samples in {} ({} samples/s)", text_of_count(source->samples()),
                  text_of_seconds(prediction.seconds()), text_of_rate(rate));
  if (const auto& hits = prediction.hits()) {
    const double accuracy =
        hits->valid == 0 ? 0.0 : static_cast<double>(hits->hits) / static_cast<double>(hits->valid);
    object["test_accuracy"] = accuracy;
    text += fmt::format(", test accuracy {}", text_of_percent(accuracy));
  }
  console.say(fmt::format("{}: {}", invocation.output, text));
  if (console.wants_json()) {
    console.json(object);
  }
}

}  // namespace

ExitCode run_predict(const Invocation& invocation, Console& console) {
  const load::SavedModel saved = saved_model(invocation, console);
  const KokkosSession kokkos(invocation.kokkos_arguments);
  if (saved.deck.spec.precision == DType::f64) {
    predict<double>(saved, invocation, console);
  } else {
    predict<float>(saved, invocation, console);
  }
  return ExitCode::done;
}

}  // namespace zygos::app
