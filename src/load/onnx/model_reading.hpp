// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// From the operators of an ONNX model to layers: from the output backward, each layer asks for the
// ones before it.
#pragma once

#include "load/onnx/model_file.hpp"

#include "zygos/deck/schema.hpp"
#include "zygos/nn/registry.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zygos::load {

/// A layer of the deck that is to be written.
struct ReadLayer {
  std::string name;  ///< beginning with a dot: it has none yet
  std::string type;
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<std::string> inputs;
  Shape output;  ///< of a sample
  /// By the name that the layer gives each parameter, in its shape.
  std::vector<std::pair<std::string, nn::OnnxConstant>> parameters;
  bool frozen = false;
  std::string note{};  ///< what the user should know of it
  std::string twin{};  ///< whose weights it has, and whose name unless that one is needed, too
};

struct ReadModel {
  std::vector<ReadLayer> layers;
  std::optional<std::string> loss;  ///< that the model's last operator is part of
  std::vector<std::string> notes;
};

class ModelReading final : public nn::OnnxSource {
 public:
  explicit ModelReading(const OnnxFile& file);

  /// Throws UsageError that names the operator which is no layer, and what is read.
  ReadModel read();

  const nn::OnnxOperator* maker(const std::string& tensor) const override;
  const nn::OnnxOperator* inner(const std::string& tensor, std::string_view type) const override;
  const nn::OnnxConstant* constant(const std::string& tensor) override;
  const nn::OnnxValue& value(const std::string& tensor) override;
  std::optional<std::string> with_columns(std::span<const nn::OnnxColumn> columns) override;

 private:
  using LayerEntry = nn::Entry<nn::LayerPtr>;

  void read_ahead();
  std::optional<nn::OnnxConstant> constant_of(const std::string& tensor);
  nn::OnnxValue value_of(const std::string& tensor);
  nn::OnnxValue moved_value(const nn::OnnxOperator& op, std::size_t output);
  nn::OnnxValue layer_value(const nn::OnnxOperator& op);
  nn::OnnxValue add(const LayerEntry& entry, const nn::OnnxOperator& op, nn::OnnxLayer found);
  /// The layer whose output is the tensor in this shape: one that reshapes, if need be.
  std::string input_of(const nn::OnnxOperator& op, const nn::OnnxInput& input, Shape& sample);
  std::string reshaped(const nn::OnnxValue& value, const Shape& sample);
  /// Makes a tensor whose elements are those of a transposed matrix the output of a layer that
  /// transposes; false: it is not such a tensor.
  bool transpose(const std::string& tensor);
  /// The position whose state a recurrent layer computes last, if its output is a sequence,
  /// (positions, units). Nothing for other layers.
  std::optional<std::int64_t> last_position(const std::string& layer) const;
  /// Makes a tensor that is the vector there the output of a twin of that layer without
  /// `sequences`; false: it is not such a tensor.
  bool take_last(const std::string& tensor);
  /// One or the other of what a layer would read; true if there was any, so that it must be read
  /// again.
  bool settle_inputs(const nn::OnnxLayer& found);
  /// The second output of a recurrent operator: its state behind the last step. Nothing for other
  /// outputs.
  std::optional<nn::OnnxValue> last_state(const nn::OnnxOperator& op, std::size_t output);
  /// The same of one of stacked recurrent operators: a Gather of what a Concat has of them.
  std::optional<nn::OnnxValue> state_of_stack(const nn::OnnxOperator& op);
  /// Whether an operator becomes a recurrent layer: one with an option `sequences`.
  bool is_recurrent(const nn::OnnxOperator& op) const;
  /// Makes a value that is one position of a layer's output, an index of its first axis, the output
  /// of a layer that selects it. Others stay as they are.
  void select(nn::OnnxValue& value);
  /// Why a layer, or what `reader` says, cannot read the value.
  std::string out_of_order(const nn::OnnxValue& value, std::string_view reader) const;
  nn::LayerPtr made(const ReadLayer& layer) const;
  std::string unnamed() const;
  std::string name_for(const std::string& type, const std::vector<nn::OnnxConstant>& parameters);
  std::string without_loss(const std::string& output, ReadModel& model);
  [[noreturn]] void refuse(const nn::OnnxOperator& op) const;

  const OnnxFile file_;
  std::vector<LayerEntry> entries_;
  deck::Schema schema_;
  std::map<std::string, std::pair<const nn::OnnxOperator*, std::size_t>> makers_;
  std::map<std::string, int> readers_;  ///< how many operators read a tensor
  std::map<std::string, std::optional<nn::OnnxConstant>> constants_;
  std::map<std::string, nn::OnnxValue> values_;
  std::map<std::pair<std::string, std::string>, std::string> reshapes_;
  std::map<std::pair<std::string, std::string>, std::string> transposes_;   ///< by layer and rows
  std::map<std::pair<std::string, std::int64_t>, std::string> selections_;  ///< by layer and index
  std::map<std::string, std::string> twins_;  ///< by layer that of its last position
  std::vector<ReadLayer> layers_;
  std::set<std::string> names_;
  int depth_ = 0;  ///< of operators that wait for those before them
};

}  // namespace zygos::load
