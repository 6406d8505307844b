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
// With weights: host, a worker has weights and gradients of a bucket only while it computes with
// them
// ("ZeRO-Infinity"): a bucket comes for forward and again for backward, one ahead of its use.
//
//   bytes of a worker's lane     those of about three buckets of weights and two of gradients
//   bytes over its link          4 N out and 8 N in, a step
//
// With clipping by the norm, an update has to wait for the squares of all buckets. Instead it is
// speculated ("SuperOffload": speculation, then validation; policies.md 3.12): a bucket is updated
// when it comes, as if the norm were below its limit, and what that overwrites is kept. Once the
// norm is known, the update stands, or is made again from what was kept. The last bucket comes with
// the norm, so nothing is speculated for it.
//
//   bytes of the owner's lane    4 N (1 + states) more, of all buckets but the last
//
// With states: file, the owner has the states of a bucket in memory only from shortly before its
// update until they are written back ("ZeRO-Infinity"), so a clipped update can't be speculated.
//
//   bytes of the owner's lane    4 N (2 + states) -> 8 N + those of about two buckets of states
//   bytes from and to its file   4 N states each, a step
#include "offload.hpp"
#include "policy_files.hpp"

#include <utility>

namespace zygos::policies {
namespace {

constexpr const char* zero_offload_keyword = "zero_offload";

class ZeroOffload final : public train::Policy {
 public:
  explicit ZeroOffload(Offload offload) : offload_(std::move(offload)) { require_bucket(offload_); }

  std::string_view keyword() const override { return zero_offload_keyword; }

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
      Offload{zero_offload_keyword, std::move(options.owner), options.bucket_bytes,
              options.weights == schedule::Tier::host, options.speculate,
              options.states == schedule::Tier::file});
}

train::PolicyEntry zero_offload_entry() {
  deck::Schema schema(zero_offload_keyword,
                      "Optimizer offloading: one lane owns optimizer states and updates; the "
                      "others train their shares of the batch with its weights.");
  add_offload_keys(schema);
  schema
      .choice("weights", {"lane", "host"},
              "Weights, where the workers' copies rest: on their lanes, or with the owner alone, "
              "from which each bucket comes once for forward and once for backward.")
      .fallback("lane");
  return {schema, [](const deck::Section& section) {
            Offload offload = offload_of(zero_offload_keyword, section);
            offload.streams = section.text("weights") == "host";
            return std::make_shared<ZeroOffload>(std::move(offload));
          }};
}

}  // namespace zygos::policies
