// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/bad_data.hpp"
#include "support/idx_files.hpp"

namespace zygos::test::detail {
namespace {

const char* const good_images = "good-images.idx";
const char* const good_labels = "good-labels.idx";

/// Three images of 2 x 2 and their labels 0, 1, 2, beside which one bad file is put each time.
class IdxWriter {
 public:
  explicit IdxWriter(const std::filesystem::path& folder) : folder_(folder) {
    write_bytes(folder / good_images, good());
    write_bytes(folder / good_labels, idx_bytes(0x08, {3}, {0, 1, 2}));
  }

  static Bytes good() { return idx_bytes(0x08, {3, 2, 2}, Bytes(12, 7)); }

  void images(const std::string& name, const Bytes& bytes) {
    const std::string file = name + ".idx";
    write_bytes(folder_ / file, bytes);
    all.push_back({.name = name,
                   .format = BadFormat::idx,
                   .inputs = file,
                   .targets = good_labels,
                   .inputs_dataset = {},
                   .targets_dataset = {},
                   .classes = 0,
                   .message = {}});
  }
  void labels(const std::string& name, const Bytes& bytes, std::int64_t classes = 3) {
    images(name, bytes);
    all.back().inputs = good_images;
    all.back().targets = name + ".idx";
    all.back().classes = classes;
  }

  std::vector<BadData> all;

 private:
  std::filesystem::path folder_;
};

void bad_headers(IdxWriter& write) {
  write.images("idx-empty", {});
  write.images("idx-cut-in-magic", {0, 0, 8});
  write.images("idx-picture", {0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A});
  write.images("idx-little-endian", Bytes{3, 8, 0, 0, 3, 0, 0, 0} + Bytes(20, 0));
  write.images("idx-rank-0", idx_bytes(0x08, {}, {5}));
  write.images("idx-rank-7", idx_bytes(0x08, {1, 1, 1, 1, 1, 1, 1}, {5}));
  write.images("idx-unknown-type", idx_bytes(0x0A, {3, 2, 2}, Bytes(12, 7)));
  write.images("idx-cut-in-dimensions", {0, 0, 8, 3, 0, 0, 0, 3, 0, 0});
  write.images("idx-no-samples", idx_bytes(0x08, {0, 2, 2}, {}));
  write.images("idx-no-rows", idx_bytes(0x08, {3, 0, 2}, {}));
}

void bad_sizes(IdxWriter& write) {
  constexpr std::uint32_t huge = 0x80000000U;
  write.images("idx-short", idx_bytes(0x08, {3, 2, 2}, Bytes(11, 7)));
  write.images("idx-header-only", idx_bytes(0x0E, {3, 2, 2}, {}));
  write.images("idx-trailing", idx_bytes(0x08, {3, 2, 2}, Bytes(14, 7)));
  write.images("idx-bomb-overflow", idx_bytes(0x0E, {huge, huge, huge, huge}, Bytes(12, 7)));
  write.images("idx-bomb-wraps-to-zero",
               idx_bytes(0x08, {huge, huge, 4}, Bytes(12, 7)));  // 2^64: zero in 64 bits
  write.images("idx-bomb-2-to-61", idx_bytes(0x08, {huge, 0x40000000U}, Bytes(12, 7)));
  write.images("idx-bomb-4-gib", idx_bytes(0x08, {0xFFFFFFFFU}, Bytes(12, 7)));
  write.images("idx-nan", idx_bytes(0x0D, {3, 1},
                                    {0, 0, 0, 0, 0x7F, 0xC0,  //
                                     0, 0, 0, 0, 0, 0}));
  write.images("idx-infinity",
               idx_bytes(0x0E, {3, 1}, Bytes(16, 0) + Bytes{0xFF, 0xF0, 0, 0, 0, 0, 0, 0}));
  write.images("idx-fewer-images", idx_bytes(0x08, {2, 2, 2}, Bytes(8, 7)));
}

void bad_gzip(IdxWriter& write) {
  const Bytes good = gzip_bytes(IdxWriter::good());
  write.images("gzip-cut", Bytes(good.begin(), good.end() - 9));
  write.images("gzip-cut-in-checksum", Bytes(good.begin(), good.end() - 3));
  Bytes flipped = good;
  flipped[flipped.size() - 8] ^= 1U;
  write.images("gzip-wrong-checksum", flipped);
  Bytes reserved = good;
  reserved[10] = 0x07;  // a last block of the type that deflate does not have
  write.images("gzip-bad-block", reserved);
  write.images("gzip-trailing", good + Bytes{'m', 'o', 'r', 'e'});
  write.images("gzip-text", gzip_bytes({'n', 'o', ' ', 'i', 'd', 'x', '\n'}));
  write.images("gzip-short", gzip_bytes(idx_bytes(0x08, {3, 2, 2}, Bytes(5, 7))));
  write.images("gzip-unpacks-to-more", gzip_bytes(IdxWriter::good() + Bytes(3, 0)));
  write.images("gzip-bomb-header", gzip_bytes(idx_bytes(0x08, {0x80000000U, 28, 28}, Bytes(9, 0))));
  // Honest about all but its last byte, and too large to be believed without counting.
  constexpr std::uint32_t large = 72U << 20;
  write.images("gzip-large-short", gzip_bytes(idx_bytes(0x08, {large}, Bytes(large - 1, 0)), 9));
}

void bad_labels(IdxWriter& write) {
  write.labels("labels-too-large", idx_bytes(0x08, {3}, {0, 1, 7}));
  write.labels("labels-negative", idx_bytes(0x09, {3}, {0, 0xFE, 1}), 0);
  write.labels("labels-negative-i16", idx_bytes(0x0B, {3}, {0, 0, 0, 1, 0xFF, 0xFF}));
  write.labels("labels-float", idx_bytes(0x0D, {3}, Bytes(12, 0)));
  write.labels("labels-are-images", IdxWriter::good());
  write.labels("labels-none", idx_bytes(0x08, {0}, {}));
  write.labels("labels-more", idx_bytes(0x08, {4}, {0, 1, 2, 0}));
  write.labels("labels-gzip-too-large", gzip_bytes(idx_bytes(0x0C, {3},
                                                             {0, 0, 0, 0,  //
                                                              0, 0, 0, 3,  //
                                                              0, 0, 0, 1})));
}

}  // namespace

std::vector<BadData> write_bad_idx(const std::filesystem::path& folder) {
  IdxWriter write(folder);
  bad_headers(write);
  bad_sizes(write);
  bad_gzip(write);
  bad_labels(write);
  return write.all;
}

}  // namespace zygos::test::detail
