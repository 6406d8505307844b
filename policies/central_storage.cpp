// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// TensorFlow's CentralStorageStrategy by its name: the variables are on one lane, the server, where
// gradients are reduced and weights are updated; it hands the weights out. A server that trains
// nothing is the owner of zero_offload, one that trains its share the first worker of data_parallel
// (exchange: central).
#include "data_parallel.hpp"
#include "offload.hpp"
#include "policy_files.hpp"

#include <utility>

namespace zygos::policies {
namespace {

constexpr const char* central_storage_keyword = "central_storage";

class CentralStorage final : public train::Policy {
 public:
  explicit CentralStorage(CentralStorageOptions options)
      : trains_(options.server_trains),
        storage_{.policy = central_storage_keyword,
                 .owner = std::move(options.server),
                 .bucket_bytes = options.bucket_bytes,
                 .role = "server"} {
    require_bucket(storage_);
  }

  std::string_view keyword() const override { return central_storage_keyword; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* /*profile*/) const override {
    if (!trains_) {
      return offload_schedule(problem, storage_);
    }
    return data_parallel_schedule(
        central_storage_keyword, problem,
        {.exchange = Exchange::central, .shares = {}, .bucket_bytes = storage_.bucket_bytes},
        owner_in(problem, storage_));
  }

  /// data_parallel and zero_offload offer a planner the same.
  std::vector<train::PolicyOptions> candidates(const plan::Problem& /*problem*/,
                                               const plan::Profile* /*profile*/) const override {
    return {};
  }

 private:
  bool trains_;
  Offload storage_;
};

}  // namespace

train::PolicyPtr central_storage(CentralStorageOptions options) {
  return std::make_shared<CentralStorage>(std::move(options));
}

train::PolicyEntry central_storage_entry() {
  deck::Schema schema(central_storage_keyword,
                      "TensorFlow's CentralStorageStrategy: one lane has the variables, receives "
                      "all gradients, updates, and sends the weights to the others.");
  schema
      .text("server",
            "Parameter server: lane with the variables; the first that reads host memory itself if "
            "not given.")
      .optional()
      .example("host");
  schema
      .boolean("server_trains",
               "Training on the server: whether it trains a share of the batch, as large as the "
               "others', or nothing.")
      .fallback(false);
  schema
      .quantity("bucket", deck::Unit::bytes,
                "Bucket size: gradients that go to the server at once. A layer is not divided.")
      .above(0.0)
      .fallback("25 MB");
  return {schema, [](const deck::Section& section) {
            return central_storage(
                {.server = section.has("server") ? section.text("server") : std::string(),
                 .server_trains = section.boolean("server_trains"),
                 .bucket_bytes = static_cast<std::int64_t>(section.bytes("bucket"))});
          }};
}

}  // namespace zygos::policies
