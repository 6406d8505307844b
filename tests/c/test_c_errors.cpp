// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Every failure is a code and a message, and leaves everything as it was.
#include "c/failure.hpp"
#include "c_samples.hpp"
#include "lane/device/device.hpp"

#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

namespace zygos::test_c_errors {
using namespace zygos::test;
using Catch::Matchers::ContainsSubstring;

namespace {

namespace fs = std::filesystem;

/// Calls f(error), checks that it fails so, and returns the message.
template <class F>
std::string refusal(zygos_code code, const F& f) {
  zygos_error error{};
  CHECK(f(&error) == code);
  CHECK(error.code == code);
  CHECK(f(static_cast<zygos_error*>(nullptr)) == code);
  return error.message;
}

struct Predicting {
  SavedRun run{"c-errors"};
  Session session;
  Handle model = session.load(run.folder.path());
  std::vector<double> x = samples<double>(8);
  std::vector<double> y = std::vector<double>(8 * targets, -7.0);
  zygos_array input = array_of(x.data(), {8, features});
  zygos_array output = array_of(y.data(), {8, targets});

  std::string refused() const {
    return refusal(ZYGOS_ERROR_USAGE, [&](zygos_error* error) {
      return zygos_predict(model.get(), &input, 1, &output, error);
    });
  }
  /// With another input.
  std::string refused(const zygos_array& other) {
    input = other;
    const std::string message = refused();
    input = array_of(x.data(), {8, features});
    return message;
  }
};

}  // namespace

TEST_CASE("Every kind of exception becomes its code and its message", "[c]") {
  const auto code_of = [](const auto& exception, const std::string& message) {
    zygos_error error{};
    const int code = c::guarded(&error, [&] { throw exception; });
    CHECK(error.code == code);
    CHECK_THAT(std::string(error.message), ContainsSubstring(message));
    return code;
  };
  CHECK(code_of(InternalError("broken"), "broken") == ZYGOS_ERROR_BUG);
  CHECK(code_of(UsageError("wrong"), "wrong") == ZYGOS_ERROR_USAGE);
  CHECK(code_of(DataError("odd"), "odd") == ZYGOS_ERROR_DATA);
  CHECK(code_of(CheckpointError("torn"), "torn") == ZYGOS_ERROR_CHECKPOINT);
  CHECK(code_of(IoError("full"), "full") == ZYGOS_ERROR_IO);
  CHECK(code_of(MemoryError("tight"), "tight") == ZYGOS_ERROR_MEMORY);
  CHECK(code_of(NumericError("NaN"), "NaN") == ZYGOS_ERROR_NUMERIC);
  CHECK(code_of(std::bad_alloc(), "no memory left") == ZYGOS_ERROR_MEMORY);
  CHECK(code_of(std::runtime_error("Kokkos failed to allocate"), "allocate") == ZYGOS_ERROR_MEMORY);
  CHECK(code_of(std::runtime_error("surprise"), "surprise") == ZYGOS_ERROR_BUG);
  CHECK(code_of(7, "unknown failure") == ZYGOS_ERROR_BUG);
  CHECK(c::guarded(nullptr, [] {}) == ZYGOS_OK);
}

TEST_CASE("A long message is cut between characters", "[c]") {
  for (const std::size_t shift : {0U, 1U}) {
    std::string text(shift, 'a');
    while (text.size() < 3000) {
      text += "\u00e4";
    }
    zygos_error error{};
    c::guarded(&error, [&] { throw UsageError(text); });
    const std::string message = error.message;
    CHECK(message.size() >= ZYGOS_MESSAGE_LENGTH - 2);
    CHECK(message.ends_with("\u00e4..."));
  }
  zygos_error error{};
  const std::string fits(ZYGOS_MESSAGE_LENGTH - 1, 'x');
  c::guarded(&error, [&] { throw UsageError(fits); });
  CHECK(error.message == fits);
}

TEST_CASE("What holds no model is refused with the code of the command line", "[c]") {
  const SavedRun run("c-load-refused");
  const Session session;
  zygos_model* model = nullptr;
  const auto load = [&](const fs::path& path, const Options& options = {}) {
    return [&session, &model, path, chosen = options.c()](zygos_error* error) {
      return zygos_load(session.session, path.c_str(), &chosen, &model, error);
    };
  };
  CHECK_THAT(refusal(ZYGOS_ERROR_USAGE, load("nowhere")), ContainsSubstring("not a directory"));
  CHECK_THAT(refusal(ZYGOS_ERROR_CHECKPOINT, load(run.folder.path(), {.best = 1})),
             ContainsSubstring("best"));
  CHECK_THAT(refusal(ZYGOS_ERROR_USAGE, load(run.folder.path(), {.precision = 9})),
             ContainsSubstring("type 9"));
  CHECK_THAT(refusal(ZYGOS_ERROR_USAGE, load(run.folder.path(), {.block = -1})),
             ContainsSubstring("block of -1"));
  CHECK_THAT(refusal(ZYGOS_ERROR_USAGE, load(run.folder.path(), {.threads = -1})),
             ContainsSubstring("-1 threads"));
  for (const auto& file : fs::directory_iterator(run.folder.path() / "checkpoints/step-000001")) {
    std::ofstream(file.path(), std::ios::app) << "torn";
  }
  refusal(ZYGOS_ERROR_CHECKPOINT, load(run.folder.path()));
  CHECK(model == nullptr);
}

TEST_CASE("Arguments that are NULL are named", "[c]") {
  Predicting p;
  zygos_model* made = nullptr;
  zygos_info info{};
  using E = zygos_error*;
  const auto usage = [](const auto& f) { return refusal(ZYGOS_ERROR_USAGE, f); };
  auto* const m = p.model.get();
  CHECK(usage([](E e) { return zygos_initialize(0, nullptr, e); }) == "session is NULL");
  CHECK(usage([&](E e) { return zygos_load(nullptr, "x", nullptr, &made, e); }) ==
        "session is NULL");
  auto* const s = p.session.session;
  CHECK(usage([&](E e) { return zygos_load(s, nullptr, nullptr, &made, e); }) == "path is NULL");
  CHECK_THAT(usage([&](E e) { return zygos_load(s, "x", nullptr, nullptr, e); }),
             ContainsSubstring("is NULL"));
  CHECK(usage([&](E e) { return zygos_create(s, nullptr, nullptr, &made, e); }) ==
        "network is NULL");
  CHECK(usage([&](E e) { return zygos_share(nullptr, 0, &made, e); }) == "model is NULL");
  CHECK(usage([&](E e) { return zygos_predict(nullptr, &p.input, 1, &p.output, e); }) ==
        "model is NULL");
  CHECK(usage([&](E e) { return zygos_predict(m, nullptr, 1, &p.output, e); }) == "inputs is NULL");
  CHECK(usage([&](E e) { return zygos_predict(m, &p.input, 1, nullptr, e); }) == "output is NULL");
  CHECK(usage([&](E e) { return zygos_prepare(nullptr, 1, e); }) == "model is NULL");
  CHECK(usage([&](E e) { return zygos_assign(m, nullptr, 1, e); }) == "weights is NULL");
  CHECK(usage([&](E e) { return zygos_reload(m, nullptr, 0, e); }) == "path is NULL");
  CHECK(usage([&](E e) { return zygos_get_info(nullptr, &info, e); }) == "model is NULL");
  CHECK(usage([&](E e) { return zygos_get_info(m, nullptr, e); }) == "info is NULL");
  CHECK(usage([&](E e) { return zygos_get_parameter(m, 0, nullptr, e); }) == "parameter is NULL");
  CHECK(zygos_finalize(nullptr, nullptr) == ZYGOS_OK);
  CHECK(zygos_threads(nullptr) == 0);
  zygos_free(nullptr);
}

TEST_CASE("Arrays that do not fit are refused, and the output stays as it was", "[c]") {
  Predicting p;
  double* const x = p.x.data();
  CHECK_THAT(p.refused(array_of(x, {8, 5})), ContainsSubstring("[5]"));
  CHECK_THAT(p.refused(array_of(x, {7, features})), ContainsSubstring("7 samples"));
  CHECK_THAT(p.refused(array_of<double>(nullptr, {8, features})), ContainsSubstring("are NULL"));
  CHECK_THAT(p.refused(array_of(x, {-8, features})), ContainsSubstring("-8"));
  CHECK_THAT(p.refused(array_of(x, {})), ContainsSubstring("rank 0"));
  zygos_array deep = array_of(x, {8, features});
  deep.rank = ZYGOS_MAX_RANK + 1;
  CHECK_THAT(p.refused(deep), ContainsSubstring("rank 8"));
  constexpr auto huge = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t none : {std::int64_t{-8}, huge, huge / features}) {
    p.output = array_of(p.y.data(), {none, targets});
    CHECK_THAT(p.refused(array_of(x, {none, features})), !ContainsSubstring("stride"));
  }
  p.output = array_of(p.y.data(), {8, targets});
  CHECK_THAT(p.refused(array_of(x, {8, features}, {huge / 4, 1})), ContainsSubstring("stride"));
  zygos_array odd = array_of(x, {8, features});
  odd.data = reinterpret_cast<char*>(x) + 4;
  CHECK_THAT(p.refused(odd), ContainsSubstring("multiple of 8 bytes"));
  odd = array_of(x, {8, features});
  odd.type = 0;
  CHECK_THAT(p.refused(odd), ContainsSubstring("ZYGOS_FLOAT32"));
  p.output = array_of(p.y.data(), {8, 2});
  CHECK_THAT(p.refused(), ContainsSubstring("output"));
  CHECK(refusal(ZYGOS_ERROR_USAGE, [&](zygos_error* error) {
          return zygos_predict(p.model.get(), &p.input, 0, &p.output, error);
        }) == "a prediction from 0 inputs; it needs 1 or more");
  CHECK(p.y == std::vector<double>(8 * targets, -7.0));
  CHECK(predicted(p.model, 8) != p.y);
}

TEST_CASE("Weights that a model cannot take are refused by name", "[c]") {
  Predicting p;
  std::vector<double> values(6 * 20, 0.5);
  values[13] = std::numeric_limits<double>::infinity();
  std::vector<zygos_weight> weights{{"h/kernel", array_of(values.data(), {6, 20})},
                                    {"h/bias", array_of(p.x.data(), {20})},
                                    {"out/kernel", array_of(p.x.data(), {20, 3}, {2, 1})},
                                    {"out/bias", array_of(p.x.data(), {3})}};
  const auto assign = [&](zygos_error* error) {
    return zygos_assign(p.model.get(), weights.data(), 4, error);
  };
  CHECK_THAT(refusal(ZYGOS_ERROR_USAGE, assign), ContainsSubstring("'out/kernel' has strides"));
  std::vector<double> kernel(60, 0.5);
  weights[2].values = array_of(kernel.data(), {20, 3});
  CHECK_THAT(refusal(ZYGOS_ERROR_NUMERIC, assign), ContainsSubstring("'h/kernel'"));
  weights[1].name = nullptr;
  CHECK(refusal(ZYGOS_ERROR_USAGE, assign) == "the name of a weight is NULL");
}

TEST_CASE("A stream is refused in a build without CUDA, and sessions end after their models",
          "[c]") {
  Predicting p;
  if (lane::device::space_name() == "none") {
    int stream = 0;
    CHECK_THAT(refusal(ZYGOS_ERROR_USAGE,
                       [&](zygos_error* error) {
                         return zygos_predict_on_stream(p.model.get(), &stream, &p.input, 1,
                                                        &p.output, error);
                       }),
               ContainsSubstring("ZYGOS_DEVICE=cuda"));
  }
  CHECK_THAT(refusal(ZYGOS_ERROR_USAGE,
                     [&](zygos_error* error) { return zygos_finalize(p.session.session, error); }),
             ContainsSubstring("has 1 models"));
  CHECK(zygos_initialize(-1, &p.session.session, nullptr) == ZYGOS_ERROR_USAGE);
  CHECK(Kokkos::is_initialized());
}

}  // namespace zygos::test_c_errors
