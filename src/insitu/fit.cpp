// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "insitu/fit.hpp"

#include "zygos/core/error.hpp"

#include <string>

namespace zygos::insitu {
namespace {

/// Flat, or with the dimensions of the whole behind the first one.
bool is_part(const Shape& part, const Shape& whole) {
  return part.rank() <= 1 || part == whole ||
         (part.rank() == whole.rank() && part.without_leading() == whole.without_leading());
}

}  // namespace

void require_fit(const char* what, std::span<const infer::Samples> views, const Shape& shape,
                 std::int64_t count) {
  std::int64_t elements = 0;
  for (const infer::Samples& view : views) {
    if (view.count != count) {
      throw UsageError(std::string("a View of the ") + what + " has " + std::to_string(view.count) +
                       " samples, another one " + std::to_string(count) +
                       "; all must have the same first dimension");
    }
    if (!is_part(view.shape, shape)) {
      throw UsageError(std::string("a sample in a View of the ") + what + " has the shape " +
                       view.shape.text() + ", but a whole one " + shape.text() +
                       "; give the same dimensions, or flat samples");
    }
    elements += view.shape.size();
  }
  if (elements != shape.size()) {
    throw UsageError(std::string("the Views of the ") + what + " have " + std::to_string(elements) +
                     " numbers a sample, the network " + std::to_string(shape.size()) + " (" +
                     shape.text() + ")");
  }
}

std::int64_t count_of(const char* what, std::span<const infer::Samples> views) {
  if (views.empty()) {
    throw UsageError(std::string("no View was given for the ") + what);
  }
  return views.front().count;
}

}  // namespace zygos::insitu
