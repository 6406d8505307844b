// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Named tensors in safetensors and .npz.
#include "io/weights/half.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/weight_file.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace zygos::io::test_weight_file {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using test::TemporaryFolder;

namespace {

namespace fs = std::filesystem;

struct Samples {
  std::vector<float> kernel{1.5F, -2, 3, 1e-30F, 5, 6};
  std::vector<double> bias{0.1, -0.2};
  std::int64_t batches = 77;
  std::vector<bf16> coarse{bf16(1.0), bf16(-0.5), bf16(3.0)};
  std::vector<std::uint8_t> none{};

  std::vector<TensorRef> refs(bool with_bf16) const {
    std::vector<TensorRef> refs{{"fc1/kernel", DType::f32, Shape{2, 3}, kernel.data()},
                                {"fc1.bias", DType::f64, Shape{2}, bias.data()},
                                {"n", DType::i64, Shape{}, &batches},
                                {"empty", DType::u8, Shape{0, 4}, none.data()}};
    if (with_bf16) {
      refs.push_back({"coarse", DType::bf16, Shape{3}, coarse.data()});
    }
    return refs;
  }
};

void require_equal(const std::vector<StoredTensor>& read, const std::vector<TensorRef>& written) {
  REQUIRE(read.size() == written.size());
  for (const TensorRef& ref : written) {
    CAPTURE(ref.name);
    const auto found = std::ranges::find(read, ref.name, &StoredTensor::name);
    REQUIRE(found != read.end());
    CHECK(found->dtype == ref.dtype);
    CHECK(found->shape == ref.shape);
    REQUIRE(found->bytes.size() == static_cast<std::size_t>(ref.shape.size()) * size_of(ref.dtype));
    CHECK((found->bytes.empty() ||
           std::memcmp(found->bytes.data(), ref.data, found->bytes.size()) == 0));
  }
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

std::string safetensors(const std::string& header, const std::string& elements) {
  const std::uint64_t length = header.size();
  std::string text(sizeof(length), '\0');
  std::memcpy(text.data(), &length, sizeof(length));
  return text + header + elements;
}

/// What reading it says.
std::string refusal_of(const fs::path& file) {
  try {
    static_cast<void>(read_weight_file(file));
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("Tensors come back from safetensors with their metadata") {
  const TemporaryFolder folder("weights");
  const fs::path file = folder.path() / "a.safetensors";
  const Samples samples;
  write_weight_file(file, samples.refs(true), {{"format", "pt"}, {"deck", "a: \"b\"\n"}});
  const WeightFile back = read_weight_file(file);
  require_equal(back.tensors, samples.refs(true));
  CHECK(back.metadata.at("deck") == "a: \"b\"\n");
  CHECK(back.unreadable.empty());
  const std::string text = text_of(file);
  std::uint64_t header = 0;
  std::memcpy(&header, text.data(), sizeof(header));
  CHECK(header % 8 == 0);
  CHECK(text[8] == '{');
}

TEST_CASE("Arrays come back from .npz, and equal arrays make equal files") {
  const TemporaryFolder folder("weights");
  const Samples samples;
  write_weight_file(folder.path() / "a.npz", samples.refs(false), {});
  write_weight_file(folder.path() / "b.npz", samples.refs(false), {});
  require_equal(read_weight_file(folder.path() / "a.npz").tensors, samples.refs(false));
  CHECK(text_of(folder.path() / "a.npz") == text_of(folder.path() / "b.npz"));
  CHECK_THROWS_MATCHES(write_weight_file(folder.path() / "c.npz", samples.refs(true), {}),
                       UsageError, MessageMatches(ContainsSubstring("no elements of type bf16")));
  CHECK_FALSE(fs::exists(folder.path() / "c.npz"));
}

TEST_CASE("Half precision is widened exactly") {
  CHECK(float_of_half(0x3C00) == 1.0F);
  CHECK(float_of_half(0xC000) == -2.0F);
  CHECK(float_of_half(0x3555) == 0.333251953125F);
  CHECK(float_of_half(0x7BFF) == 65504.0F);
  CHECK(float_of_half(0x0400) == std::ldexp(1.0F, -14));
  CHECK(float_of_half(0x0001) == std::ldexp(1.0F, -24));
  CHECK(float_of_half(0x83FF) == -std::ldexp(1023.0F, -24));
  CHECK(std::signbit(float_of_half(0x8000)));
  CHECK(float_of_half(0x8000) == 0.0F);
  CHECK(std::isinf(float_of_half(0x7C00)));
  CHECK(std::isnan(float_of_half(0x7E00)));

  const TemporaryFolder folder("weights");
  const fs::path file = folder.path() / "half.safetensors";
  write_text(file, safetensors(R"({"x":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},)"
                               R"("m":{"dtype":"BOOL","shape":[3],"data_offsets":[4,7]}})",
                               std::string("\x00\x3C\x00\xC0\x01\x00\x01", 7)));
  const WeightFile read = read_weight_file(file);
  REQUIRE(read.tensors.size() == 1);
  CHECK(read.tensors[0].dtype == DType::f32);
  std::array<float, 2> values{};
  std::memcpy(values.data(), read.tensors[0].bytes.data(), sizeof(values));
  CHECK(values == std::array{1.0F, -2.0F});
  CHECK(read.unreadable == std::map<std::string, std::string>{{"m", "BOOL"}});
}

TEST_CASE("Damaged safetensors are refused with what was found") {
  const TemporaryFolder folder("weights");
  const fs::path file = folder.path() / "bad.safetensors";
  const auto refused = [&](const std::string& text) {
    write_text(file, text);
    return refusal_of(file);
  };
  const std::string good = R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  CHECK(refused(safetensors(good, "12345678")) == "accepted");
  CHECK_THAT(refused("abc"), ContainsSubstring("found 3 bytes"));
  CHECK_THAT(refused(safetensors(good, "1234567")), ContainsSubstring("lies at bytes 0 to 8"));
  CHECK_THAT(refused(safetensors(good, "123456789")),
             ContainsSubstring("found 1 bytes behind the last tensor"));
  CHECK_THAT(refused(std::string(8, '\xFF') + good), ContainsSubstring("found a header of"));
  CHECK_THAT(refused(safetensors("{\"x\":", "")), ContainsSubstring("no JSON object"));
  CHECK_THAT(refused(safetensors("[1]", "")), ContainsSubstring("no JSON object"));
  CHECK_THAT(refused(safetensors(R"({"x":{"dtype":"F32","shape":[2]}})", "12345678")),
             ContainsSubstring("'x' lacks dtype, shape or data_offsets"));
  CHECK_THAT(
      refused(safetensors(R"({"x":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "12345678")),
      ContainsSubstring("of type F32 and shape [3] has 8 bytes"));
  CHECK_THAT(
      refused(safetensors(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", "12345678")),
      ContainsSubstring("lies at bytes 8 to 0"));
  CHECK_THAT(refused(safetensors(R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}})",
                                 "12345678")),
             ContainsSubstring("tensor 'x'"));
  CHECK_THAT(refused(safetensors(R"({"__metadata__":{"a":1}})", "")),
             ContainsSubstring("metadata 'a' is no text"));
}

TEST_CASE("Damaged .npz files are refused with what was found") {
  const TemporaryFolder folder("weights");
  const fs::path file = folder.path() / "a.npz";
  const Samples samples;
  write_weight_file(file, samples.refs(false), {});
  const std::string good = text_of(file);
  write_text(file, good.substr(0, good.size() / 2));
  CHECK_THAT(refusal_of(file), ContainsSubstring("numpy.savez"));
  std::string flipped = good;  // in the elements of the first array
  flipped[flipped.find("NUMPY") + 125] ^= 1;
  write_text(file, flipped);
  CHECK_THAT(refusal_of(file),
             ContainsSubstring("array 'fc1/kernel'") && ContainsSubstring("copy it anew"));
  write_text(file, "not a zip");
  CHECK_THAT(refusal_of(file), ContainsSubstring("allowed are files of numpy.savez"));
}

TEST_CASE("Files of other endings, that are not there, or with one name twice are refused") {
  const TemporaryFolder folder("weights");
  const Samples samples;
  CHECK_THROWS_MATCHES(read_weight_file("a.pt"), UsageError,
                       MessageMatches(ContainsSubstring("allowed for weights are .safetensors")));
  CHECK_THROWS_AS(read_weight_file(folder.path() / "a.npz"), IoError);
  CHECK_THROWS_AS(write_weight_file(folder.path() / "no/a.npz", samples.refs(false), {}), IoError);
  auto twice = samples.refs(false);
  twice.push_back(twice.front());
  CHECK_THROWS_MATCHES(write_weight_file(folder.path() / "a.npz", twice, {}), UsageError,
                       MessageMatches(ContainsSubstring("two tensors called 'fc1/kernel'")));
}

}  // namespace zygos::io::test_weight_file
