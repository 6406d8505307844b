// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Optimizer states and updates on one lane, forward and backward on the others (Ren et al.,
// "ZeRO-Offload", USENIX ATC 2021, section 4; policies.md 3.12), in its synchronous form: gradients
// go to the owner bucket by bucket while backward is at work on the layers before, the owner adds
// up what several workers send, updates a bucket as soon as it is whole and sends its weights back.
//
//   bytes of a worker's lane     4 N weights + 4 N gradients instead of 4 N (2 + states)
//   bytes over its link          4 N out and 4 N in, a step
//
// With clipping by the norm, updates begin when the squares of all buckets are known.
#include "offload.hpp"
#include "policy_files.hpp"

#include <utility>

namespace zygos::policies {
namespace {

constexpr const char* keyword_text = "zero_offload";

class ZeroOffload final : public train::Policy {
 public:
  explicit ZeroOffload(Offload offload) : offload_(std::move(offload)) { require_bucket(offload_); }

  std::string_view keyword() const override { return keyword_text; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* /*profile*/) const override {
    return offload_schedule(problem, offload_);
  }

 private:
  Offload offload_;
};

}  // namespace

train::PolicyPtr zero_offload(ZeroOffloadOptions options) {
  return std::make_shared<ZeroOffload>(
      Offload{keyword_text, std::move(options.owner), options.bucket_bytes});
}

train::PolicyEntry zero_offload_entry() {
  deck::Schema schema(keyword_text,
                      "One lane owns optimizer states and updates; the others train their shares "
                      "of the batch with its weights.");
  add_offload_keys(schema);
  return {schema, [](const deck::Section& section) {
            return std::make_shared<ZeroOffload>(offload_of(keyword_text, section));
          }};
}

}  // namespace zygos::policies
