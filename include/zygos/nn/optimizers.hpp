// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/nn/optimizer.hpp"

namespace zygos::nn {

/// g += decay * w; v = momentum * v + g; w -= rate * v  (decay is L2, as in PyTorch's SGD).
struct SgdOptions {
  double learning_rate = 0.01;
  double momentum = 0.0;
  double weight_decay = 0.0;
};
OptimizerPtr sgd(SgdOptions options);

/// Adam (Kingma and Ba, 2015, algorithm 1); with decoupled true, AdamW (Loshchilov and Hutter,
/// 2019).
struct AdamOptions {
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;
  bool decoupled = false;
};
OptimizerPtr adam(AdamOptions options);

/// Adagrad (Duchi, Hazan and Singer, JMLR 2011; diagonal form): steps divided by the root of all
/// squared gradients so far.
struct AdagradOptions {
  double learning_rate = 0.01;
  double epsilon = 1e-10;
  double weight_decay = 0.0;
};
OptimizerPtr adagrad(AdagradOptions options);

/// RMSProp (Tieleman and Hinton, Coursera lecture 6.5, 2012): the same with a running mean of
/// squared gradients; momentum as in PyTorch's RMSprop.
struct RmspropOptions {
  double learning_rate = 0.01;
  double alpha = 0.99;
  double epsilon = 1e-8;
  double momentum = 0.0;
  double weight_decay = 0.0;
};
OptimizerPtr rmsprop(RmspropOptions options);

/// 1-bit Adam (Tang et al., ICML 2021): Adam for `freeze` steps, then with the variance that it has
/// by then, on momenta that replicas exchange in one bit an element; without such an exchange, on
/// its own. With `refresh`, the variance goes on to change in the exact steps of OneBitSteps (Lu et
/// al., ICLR 2023), each of which stands for all since the one before: v = b v + (1 - b) g^2 with
/// b = beta2^distance. Parameters whose gradient was zero in each step until the freeze are not
/// trained after it.
struct OneBitAdamOptions {
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  std::int64_t freeze = 1000;  ///< steps of plain Adam, 1 at least
  std::int64_t refresh = 0;    ///< exact steps of each distance; 0: the variance stays
};
OptimizerPtr one_bit_adam(OneBitAdamOptions options);

/// `base` on gradients that are scaled by min(1, norm / |g|), with |g| over all parameters
/// (Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks", ICML
/// 2013, algorithm 1); before any decay is added.
OptimizerPtr clipped(OptimizerPtr base, double norm);

}  // namespace zygos::nn
