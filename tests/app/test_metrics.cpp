// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What `zygos eval` says beyond the loss.
#include "app/trained/metrics.hpp"
#include "tiny_run.hpp"

#include "zygos/nn/losses.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace zygos::test_metrics {
using namespace zygos::app;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class T>
io::Array array_of(const Shape& shape, const std::vector<T>& values) {
  return io::detail::copy_to_array(dtype_of<T>, shape, values.data(), values.size());
}

io::Dataset labelled(const std::vector<std::int32_t>& labels, std::int64_t classes) {
  const auto count = std::ssize(labels);
  io::Dataset data;
  data.name = "test";
  data.inputs = array_of(Shape{count, 1}, std::vector<float>(labels.size()));
  data.targets = array_of(Shape{count}, labels);
  data.classes = classes;
  return data;
}

}  // namespace

TEST_CASE("Precision, recall and F1 are those counted by hand") {
  const auto loss = nn::cross_entropy();
  const auto metrics = metrics_for(*loss, Shape{3});
  // Predicted: 0, 1, 1, 2, 0 of labels 0, 1, 2, 2, 1; in two pieces.
  metrics->add(std::vector<double>{5, 1, 1, 0, 3, 1, 0, 2, 1}, labelled({0, 1, 2}, 3));
  metrics->add(std::vector<double>{0, 0, 1, 1, 0, 0}, labelled({2, 1}, 3));
  const auto json = metrics->json();
  CHECK(json["confusion"] == nlohmann::json({{1, 0, 0}, {1, 1, 0}, {0, 1, 1}}));
  CHECK(json["classes"][0]["precision"] == 0.5);
  CHECK(json["classes"][0]["recall"] == 1.0);
  CHECK(json["classes"][1]["f1"] == 0.5);
  CHECK(json["classes"][2]["precision"] == 1.0);
  CHECK(json["classes"][2]["recall"] == 0.5);
  CHECK(json["macro_recall"].get<double>() == Approx(2.0 / 3.0));
  CHECK(json["macro_f1"].get<double>() == Approx((2.0 / 3.0 + 0.5 + 2.0 / 3.0) / 3.0));
  CHECK_THAT(metrics->text(), ContainsSubstring("66.67 %") && ContainsSubstring("0 (1)"));
}

TEST_CASE("A label is among the first five if at most four classes are ahead of it") {
  const auto metrics = classification_metrics(*nn::cross_entropy(), Shape{7});
  // Labels 5 and 4 of equal logits: the first classes are ahead. Label 6 is the largest.
  metrics->add(std::vector<double>{0, 0, 0, 0, 0, 0, 0,  //
                                   0, 0, 0, 0, 0, 0, 0,  //
                                   0, 0, 0, 0, 0, 0, 1},
               labelled({5, 4, 6}, 7));
  CHECK(metrics->json()["top5"].get<double>() == Approx(2.0 / 3.0));
  CHECK_THAT(metrics->text(), ContainsSubstring("among the first five 66.67 %"));
  CHECK_FALSE(classification_metrics(*nn::cross_entropy(), Shape{5})->json().contains("top5"));
}

TEST_CASE("The confusion matrix is a table of labels by predictions, with names") {
  const auto metrics = classification_metrics(*nn::cross_entropy(), Shape{2}, {"cat", "dog"});
  metrics->add(std::vector<double>{1, 0, 0, 1, 0, 1}, labelled({0, 0, 1}, 2));
  CHECK_THAT(metrics->confusion_text(), ContainsSubstring("cat") && ContainsSubstring("dog"));
  CHECK(metrics->confusion_text().find("cat" + std::string(18, ' ') + "1    1") !=
        std::string::npos);
}

TEST_CASE("An evaluation keeps the matrix of up to 100 classes, with names") {
  const auto metrics = classification_metrics(*nn::cross_entropy(), Shape{2}, {"cat", "dog"});
  metrics->add(std::vector<double>{1, 0, 0, 1, 0, 1}, labelled({0, 0, 1}, 2));
  train::Evaluation evaluation;
  evaluation.confusion = metrics->confusion();
  nlohmann::json line;
  add_class_figures(evaluation, line);
  CHECK(line["test_confusion"] ==
        nlohmann::json({{"classes", {"cat", "dog"}}, {"counts", {{1, 1}, {0, 1}}}}));
  CHECK_FALSE(line.contains("test_per_class"));

  const auto sizes = [](std::int64_t classes) {
    return classification_metrics(*nn::cross_entropy(), Shape{classes})->confusion().counts.size();
  };
  CHECK(sizes(100) == 100);
  CHECK(sizes(101) == 0);
  CHECK(regression_metrics(Shape{2})->confusion().counts.empty());
}

TEST_CASE("A class that neither labels nor predictions have is in no mean") {
  const auto metrics = classification_metrics(*nn::cross_entropy(), Shape{4});
  metrics->add(std::vector<double>{1, 0, 0, 0, 0, 1, 0, 0}, labelled({0, 1}, 4));
  CHECK(metrics->json()["macro_f1"] == 1.0);
  CHECK(metrics->json()["classes"][3]["f1"] == 0.0);
}

TEST_CASE("Errors and R2 of regression are those computed by hand") {
  const auto metrics = metrics_for(*nn::mean_squared_error(), Shape{2});
  io::Dataset data;
  data.inputs = array_of(Shape{3, 1}, std::vector<float>(3));
  data.targets = array_of(Shape{3, 2}, std::vector<float>{1, 10, 2, 10, 3, 10});
  metrics->add(std::vector<double>{1, 11, 2, 10, 4, 8}, data);
  const auto json = metrics->json();
  const auto& first = json["outputs"][0];
  CHECK(first["rmse"].get<double>() == Approx(std::sqrt(1.0 / 3.0)));
  CHECK(first["mae"].get<double>() == Approx(1.0 / 3.0));
  CHECK(first["largest_error"] == 1.0);
  CHECK(first["r2"].get<double>() == Approx(0.5));  // 1 of the targets' 2
  CHECK(json["outputs"][1]["r2"].is_null());        // they do not vary
  CHECK(json["rmse"].get<double>() == Approx(1.0));
  CHECK(json["largest_error"] == 2.0);
  CHECK_THAT(metrics->text(), ContainsSubstring("0.50000"));
}

TEST_CASE("A loss of masks has no metrics beyond its score") {
  CHECK(metrics_for(*nn::dice(), Shape{4}) == nullptr);
}

TEST_CASE("Figures of every class are those of the class alone, the worst ones in the table") {
  const auto metrics = metrics_for(*nn::cross_entropy(), Shape{3}, {"cat", "dog", "owl"});
  // Predicted: 0, 1, 1, 2, 0 of labels 0, 1, 2, 2, 1.
  metrics->add(std::vector<double>{5, 1, 1, 0, 3, 1, 0, 2, 1, 0, 0, 1, 1, 0, 0},
               labelled({0, 1, 2, 2, 1}, 3));
  const auto classes = metrics->classes();
  REQUIRE(classes.size() == 3);
  CHECK(classes[2].figures.at("recall") == 0.5);
  CHECK(json_of(classes)[0] == nlohmann::json({{"name", "cat"},
                                               {"labels", 1},
                                               {"precision", 0.5},
                                               {"recall", 1.0},
                                               {"f1", 2.0 / 3.0}}));
  CHECK_THAT(text_of(classes), ContainsSubstring("owl") && ContainsSubstring("100.00 %"));

  std::vector<train::ClassFigures> many;
  for (int i = 0; i < 21; ++i) {
    many.push_back({"class" + std::to_string(i),
                    {{"precision", 0.5}, {"recall", 0.5}, {"f1", i == 7 ? 0.9 : 0.5}}});
  }
  CHECK_THAT(text_of(many), ContainsSubstring("class20") && !ContainsSubstring("class7 "));
  CHECK(regression_metrics(Shape{2})->classes().empty());
}

TEST_CASE("eval counts as the accuracy does, class by class") {
  const zygos::test::Scratch scratch;
  zygos::test::write_tiny_deck(scratch.path());
  const auto trained = zygos::test::train_unmeasured(
      scratch.path(), {"train.epochs=2", "train.metrics=[per_class, macro_f1, confusion]"});
  const auto evaluated = zygos::test::json_of({"eval", "runs/tiny", "--json"}, scratch.path());
  const auto& confusion = evaluated["metrics"]["confusion"];
  std::int64_t samples = 0;
  std::int64_t hits = 0;
  for (std::size_t label = 0; label < confusion.size(); ++label) {
    for (const auto& count : confusion[label]) {
      samples += count.get<std::int64_t>();
    }
    hits += confusion[label][label].get<std::int64_t>();
  }
  // What training's last evaluation said of every class is the same.
  const auto& per_class = trained["test_per_class"];
  REQUIRE(per_class.size() == 10);
  double f1 = 0.0;
  for (std::size_t label = 0; label < per_class.size(); ++label) {
    CHECK(per_class[label]["name"] == evaluated["metrics"]["classes"][label]["name"]);
    CHECK(per_class[label]["labels"] == evaluated["metrics"]["classes"][label]["labels"]);
    CHECK(per_class[label]["recall"] == evaluated["metrics"]["classes"][label]["recall"]);
    f1 += per_class[label]["f1"].get<double>() / 10.0;
  }
  CHECK(trained["test_confusion"]["counts"] == confusion);
  CHECK(f1 == Approx(trained["test_macro_f1"].get<double>()));
  CHECK_THAT(zygos::test::read_text(scratch.path() / "runs/tiny/metrics.jsonl"),
             ContainsSubstring("\"test_per_class\":[{"));
  CHECK(samples == evaluated["samples"]);
  CHECK(static_cast<double>(hits) / static_cast<double>(samples) == evaluated["test_accuracy"]);
}

}  // namespace zygos::test_metrics
