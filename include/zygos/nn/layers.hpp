// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Factories of every layer, for programs that build a model in C++.
#pragma once

#include "zygos/core/adjacency.hpp"
#include "zygos/nn/layer.hpp"

#include <cstdint>
#include <span>

namespace zygos::nn {

/// Functions applied elementwise. relu, tanh and sigmoid have gradients that follow from their
/// output, so a dense layer can fuse them.
enum class Activation { none, relu, tanh, sigmoid, gelu };

/// y = f(x W + b), x flattened to (N, D), W (D, K), b (K). W is uniform in +-1/sqrt(D), as is b.
struct DenseOptions {
  std::int64_t units = 0;
  bool bias = true;
  bool flatten =
      true;  ///< false: (..., D) to (..., K), every vector along the last extent is a row
  Activation activation = Activation::none;  ///< any but gelu, whose gradient needs its input
};
LayerPtr dense(DenseOptions options);

/// A value for the vertical and one for the horizontal axis of an image.
struct AxisPair {
  std::int64_t y;
  std::int64_t x;
};

/// y = f(x * w + b) over images (channels, height, width), without turning the kernel: output
/// o = (input + 2 padding - dilation (kernel - 1) - 1) / stride + 1 on each axis. w (filters,
/// channels / groups, kernel.y, kernel.x), b (filters), both uniform in +-1/sqrt(window's size).
struct Conv2dOptions {
  std::int64_t filters = 0;
  AxisPair kernel{1, 1};
  AxisPair stride{1, 1};
  AxisPair padding{0, 0};
  AxisPair dilation{1, 1};
  std::int64_t groups = 1;  ///< divides channels and filters, which see their own group only
  bool bias = true;
  Activation activation = Activation::none;  ///< any but gelu, whose gradient needs its input
};
LayerPtr conv2d(Conv2dOptions options);

/// conv2d of lines (channels, length) as images of one row. w (filters, channels / groups, 1,
/// kernel).
struct Conv1dOptions {
  std::int64_t filters = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  Activation activation = Activation::none;  ///< any but gelu, whose gradient needs its input
};
LayerPtr conv1d(const Conv1dOptions& options);

/// The gradient of conv2d with respect to its input as a layer (Zeiler et al., 2010): output
/// (input - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1 on each axis.
/// w (channels, filters / groups, kernel.y, kernel.x).
struct ConvTranspose2dOptions {
  Conv2dOptions conv;
  AxisPair output_padding{0, 0};  ///< rows and columns more at the end, less than the stride
};
LayerPtr conv_transpose2d(ConvTranspose2dOptions options);

/// Windows of images (channels, height, width), each channel on its own. Output
/// (input + 2 padding - kernel) / stride + 1 on each axis, rounded down, or up with `ceil` (Jia et
/// al., "Caffe", 2014), where a last window may reach beyond the input but begins in it.
struct Pool2dOptions {
  AxisPair kernel{1, 1};
  AxisPair stride{1, 1};
  AxisPair padding{0, 0};  ///< less than the kernel
  bool ceil = false;
  bool count_padding = false;  ///< averages count the padding as zeros
};
/// The largest value, the first of equal ones; its gradient goes there. NaN counts as largest.
LayerPtr max_pool2d(Pool2dOptions options);
LayerPtr average_pool2d(Pool2dOptions options);

/// Images with factor.y rows and factor.x columns for each of the input's: copies, or between the
/// centres of the four pixels around, with the border repeated.
struct UpsampleOptions {
  AxisPair factor{1, 1};
  bool bilinear = false;
};
LayerPtr upsample(UpsampleOptions options);

/// A sample's numbers in the same order with other dimensions; one may be -1, for what the others
/// leave. flatten() is {-1}.
LayerPtr reshape(std::span<const std::int64_t> dimensions);
LayerPtr flatten();

/// Elementwise activation; gelu is the exact form x Phi(x) (Hendrycks and Gimpel, 2016).
LayerPtr activation(Activation which);

/// Sigmoid-weighted linear unit x / (1 + exp(-x)), also called swish (Elfwing, Uchibe and Doya,
/// 2018).
LayerPtr silu();

/// The tanh approximation of gelu, x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 (Hendrycks and
/// Gimpel, 2016), which GPT-2 has; within 0.0005 of the exact form.
LayerPtr gelu_tanh();

/// x where x >= 0, slope * x elsewhere (Maas, Hannun and Ng, 2013); slope in [0, 1).
LayerPtr leaky_relu(double slope = 0.01);

/// Inverted dropout: keeps with probability 1 - rate and scales by 1 / (1 - rate). The mask is a
/// function of (seed, layer, step, sample id, feature) alone and is never stored.
LayerPtr dropout(double rate);

/// Each vector along the last extent less its mean and over its standard deviation, times a gain
/// (1 at first), plus a shift (0) for each of its elements (Ba, Kiros and Hinton, 2016). Both are
/// summed in double; `epsilon` is added to the variance.
LayerPtr layer_norm(double epsilon = 1e-5);

/// The channels of each of `groups` equal groups of a sample (channels, ...) less their mean and
/// over their standard deviation, over all positions, times a gain (1 at first), plus a shift (0)
/// for each channel (Wu and He, "Group normalization", 2018). Samples do not see each other. Mean
/// and variance are summed in double; `epsilon` is added to the variance. `groups` divides the
/// channels.
LayerPtr group_norm(std::int64_t groups, double epsilon = 1e-5);

struct BatchNormOptions {
  std::int64_t group = 0;  ///< samples with statistics of their own; 0: those of the whole batch
  bool deferred = false;   ///< of whatever part of a batch a policy gives the layer in one call
  double momentum = 0.1;   ///< share of a batch's statistics in the running ones
  double epsilon = 1e-5;   ///< added to the variance
};
/// Each channel, the first extent of a sample shape, less its mean and over its standard deviation,
/// times a gain (1 at first), plus a shift (0) (Ioffe and Szegedy, 2015, algorithm 1). While it
/// trains, means and variances are those over positions and samples of a batch, whoever has these
/// samples, or of every `group` samples of it (ghost batches: Hoffer, Hubara and Soudry, 2017,
/// algorithm 1), between which alone a policy may divide it then. With `deferred` they are those of
/// each part that a policy makes (as torchgpipe's layer of that name has them: Kim et al., 2020).
/// Evaluation takes running statistics, always those of whole batches:
/// r = (1 - momentum) r + momentum s, of the mean and the unbiased variance, weighted over groups.
LayerPtr batch_norm(BatchNormOptions options = {});

/// Local response normalisation across channels (Krizhevsky, Sutskever and Hinton, "ImageNet
/// classification with deep convolutional neural networks", NIPS 2012, section 3.3): y = x / (k +
/// alpha / size * the sum of squares over `size` channels)^beta. As in Caffe and PyTorch alpha is
/// divided by size; the paper's is not. Input (channels, ...).
struct LrnOptions {
  std::int64_t size = 5;  ///< odd
  double alpha = 1e-4;
  double beta = 0.75;
  double k = 1.0;
};
LayerPtr lrn(LrnOptions options);

/// Token ids (..., T), whole numbers in [0, vocabulary), to the rows of a table that they name:
/// (..., T, units). Ids come straight from the model's input, in the type of parameters. Data sets
/// are checked when they are loaded; an id that the table lacks gives NaN. The table (vocabulary,
/// units) is normal with deviation 0.02 (Radford et al., "Language models are unsupervised
/// multitask learners", 2019).
struct EmbeddingOptions {
  std::int64_t vocabulary = 0;
  std::int64_t units = 0;
};
LayerPtr embedding(EmbeddingOptions options);

/// (A, ...) to (..., A): the first extent becomes the last one, and the others one before it, (C,
/// H, W) to (H W, C). So the places of an image become a sequence of vectors. Throws UsageError,
/// when shapes are inferred, for samples of one extent.
LayerPtr transpose();

/// x + table, a learned vector for each position of a sequence (T, D), initially normal with
/// deviation 0.02.
LayerPtr positions();

/// A learned vector in front of a sequence, (T, D) to (T + 1, D), initially normal with deviation
/// 0.02: what gathers a sequence for a classifier (Devlin et al., "BERT", 2019).
LayerPtr class_token();

/// One position of a sequence, (T, ...) to (...): 0 is the first, and negative indices count from
/// the end. Throws UsageError, when shapes are inferred, for an index that the sequence lacks.
LayerPtr select(std::int64_t index);

/// Multi-head self-attention of a sequence (Vaswani et al., "Attention is all you need", 2017),
/// each position seeing all positions, as in encoders: (T, 3 D) to (T, D). A vector holds queries
/// of all heads, then keys, then values: what a dense layer without flattening makes of (T, D). No
/// matrix of all pairs is stored (Dao et al., "FlashAttention", 2022). Throws UsageError for less
/// than one head or a rate of dropout outside of [0, 1).
struct AttentionOptions {
  std::int64_t heads = 1;  ///< divides D
  double dropout = 0.0;    ///< of the weights, after the softmax, while training
};
LayerPtr attention(AttentionOptions options);

/// The same, each position seeing itself and those before it, as in decoders.
using CausalAttentionOptions = AttentionOptions;
LayerPtr causal_attention(CausalAttentionOptions options);

/// Recurrent layers over a sequence (T, I), from its first position on: (T, H), or (H) of the last
/// position. The state before the first one is zero. Parameters: W (I, G H), R (H, G H) and a bias
/// of each product (G H), all uniform in +-1/sqrt(H), G gates side by side as PyTorch has them.
/// Throws UsageError for less than one unit.
struct RecurrentOptions {
  std::int64_t units = 0;  ///< H
  bool sequences = true;   ///< false: the state of the last position alone
  /// From the last position to the first, the state behind the last one being zero; the state that
  /// is left is that of the first position. Both directions side by side, by a concat with axis:
  /// last, are a bidirectional layer.
  bool reverse = false;
};

/// Long short-term memory (Hochreiter and Schmidhuber, 1997; with the forget gate of Gers,
/// Schmidhuber and Cummins, 2000): of a = x_t W + b_W + h_(t-1) R + b_R in four gates
/// c_t = sigmoid(a_f) c_(t-1) + sigmoid(a_i) tanh(a_g) and h_t = sigmoid(a_o) tanh(c_t), in the
/// order i, f, g, o.
LayerPtr lstm(RecurrentOptions options);

/// Gated recurrent unit (Cho et al., 2014): h_t = (1 - z) n + z h_(t-1) with
/// r, z = sigmoid(x_t W + b_W + h_(t-1) R + b_R) and
/// n = tanh(x_t W_n + b_Wn + r (h_(t-1) R_n + b_Rn)), in the order r, z, n.
LayerPtr gru(RecurrentOptions options);

/// What a node of a graph hears.
enum class Aggregate {
  /// D^-1/2 (A + I) D^-1/2 x, with D the row sums of A + I (Kipf and Welling, "Semi-supervised
  /// classification with graph convolutional networks", ICLR 2017, equation 2). In trees of sampled
  /// neighbours the mean over a node and its children (Hamilton, Ying and Leskovec, "Inductive
  /// representation learning on large graphs", NIPS 2017, equation 2).
  gcn,
  /// Its own vector and, beside it, the mean over its neighbours; zero if it has none (the same,
  /// algorithm 1).
  mean,
};

/// y = f(S W + b) over the nodes of a graph (nodes, features), S (nodes, D) what every node
/// gathers: D is the number of features, twice that for the mean. W (D, units), b (units), both
/// uniform in
/// +-1/sqrt(D). The graph is the same for all samples: one graph, or a tree of sampled neighbours,
/// whose leaves get no output. So behind a layer the tree has a level less, and the layer finds by
/// the number of nodes which one it is at. Throws UsageError if there is no graph.
struct GraphConvOptions {
  std::int64_t units = 0;
  Aggregate aggregate = Aggregate::gcn;
  SampleGraph graph;
  bool bias = true;
  Activation activation = Activation::none;  ///< any but gelu, whose gradient needs its input
};
LayerPtr graph_conv(const GraphConvOptions& options);

/// Sum of two or more inputs of one shape (a residual connection: He et al., 2015), the first of
/// which may be dropped from on the way: y = dropout(x0) + x1 + ... in one pass over memory, with
/// the mask that a layer of dropout would have at the same place in the graph. Throws UsageError
/// for a rate outside of [0, 1).
struct AddOptions {
  double dropout = 0.0;  ///< of features of the first input, while training
};
LayerPtr add(AddOptions options = {});

/// Two or more inputs joined along the first extent of their sample shapes, or the last one; all
/// other dimensions must be the same. Along the first one vectors are appended, images stacked by
/// channel and sequences put behind each other; along the last one each position of a sequence gets
/// the features of all.
struct ConcatOptions {
  bool last = false;
};
LayerPtr concat(ConcatOptions options = {});

}  // namespace zygos::nn
