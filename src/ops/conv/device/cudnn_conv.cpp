// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/device/cudnn_conv.hpp"

#include "zygos/core/error.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace zygos::ops {
namespace {

/// Where workspaces begin: cuDNN's kernels load several elements at once.
constexpr std::size_t workspace_alignment = 256;

struct DestroyCudnnObject {
  const std::function<int(void*)>* function = nullptr;
  void operator()(void* object) const { static_cast<void>((*function)(object)); }
};
using CudnnObject = std::unique_ptr<void, DestroyCudnnObject>;

/// An algorithm that cuDNN has for a shape.
struct CudnnAlgorithm {
  int number;
  std::size_t workspace;
};

/// What is kept of a convolution.
struct CudnnPlan {
  CudnnObject x;
  CudnnObject w;
  CudnnObject y;
  CudnnObject convolution;
  /// Of each pass, in the order of preference, once it has been asked for.
  std::array<std::optional<std::vector<CudnnAlgorithm>>, 3> algorithms;
};

struct CudnnPlanKey {
  Conv2d conv;
  DType dtype;
  friend auto operator<=>(const CudnnPlanKey&, const CudnnPlanKey&) = default;
};

/// One of the three passes: its functions, its operands in cuDNN's order, and its algorithms.
struct CudnnPassRule {
  std::size_t index;
  CudnnPass CudnnApi::*functions;
  CudnnObject CudnnPlan::*first;
  CudnnObject CudnnPlan::*second;
  CudnnObject CudnnPlan::*result;
  std::span<const int> algorithms;
  const char* workspace_call;
  const char* call;
};

/// The first one finds offsets of taps once and keeps them in its workspace, the second one has
/// none.
constexpr std::array forward_algorithms{cudnn_algorithm::forward_implicit_precomp_gemm,
                                        cudnn_algorithm::forward_implicit_gemm};
constexpr std::array data_algorithms{cudnn_algorithm::backward_data_1};
constexpr std::array filter_algorithms{cudnn_algorithm::backward_filter_1};

constexpr CudnnPassRule forward_rule{0,
                                     &CudnnApi::forward,
                                     &CudnnPlan::x,
                                     &CudnnPlan::w,
                                     &CudnnPlan::y,
                                     forward_algorithms,
                                     "cudnnGetConvolutionForwardWorkspaceSize",
                                     "cudnnConvolutionForward"};
constexpr CudnnPassRule data_rule{1,
                                  &CudnnApi::backward_data,
                                  &CudnnPlan::w,
                                  &CudnnPlan::y,
                                  &CudnnPlan::x,
                                  data_algorithms,
                                  "cudnnGetConvolutionBackwardDataWorkspaceSize",
                                  "cudnnConvolutionBackwardData"};
constexpr CudnnPassRule filter_rule{2,
                                    &CudnnApi::backward_filter,
                                    &CudnnPlan::x,
                                    &CudnnPlan::y,
                                    &CudnnPlan::w,
                                    filter_algorithms,
                                    "cudnnGetConvolutionBackwardFilterWorkspaceSize",
                                    "cudnnConvolutionBackwardFilter"};

struct CudnnOperands {
  const void* first;
  const void* second;
  void* result;
};

/// A factor as cuDNN reads it: a float or, of f64, a double.
struct CudnnFactor {
  float single;
  double full;
  const void* of(DType dtype) const {
    return dtype == DType::f64 ? static_cast<const void*>(&full)
                               : static_cast<const void*>(&single);
  }
};

/// Whether cuDNN, which counts in ints, can be asked: some elements of each operand, not too many.
bool has_cudnn_size(const Conv2d& conv) {
  const auto counted = [](std::initializer_list<std::int64_t> dimensions) {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    std::int64_t elements = 1;
    for (const std::int64_t extent : dimensions) {
      if (extent < 1 || extent > most / elements) {
        return false;
      }
      elements *= extent;
    }
    return true;
  };
  const auto axis = [&](const ConvAxis& a) {
    return counted({a.stride}) && counted({a.dilation}) && counted({a.padding + 1});
  };
  return axis(conv.y) && axis(conv.x) &&
         counted({conv.samples, conv.channels, conv.y.input, conv.x.input}) &&
         counted({conv.filters, conv.channels, conv.y.kernel, conv.x.kernel}) &&
         counted({conv.samples, conv.filters, conv.y.output(), conv.x.output()});
}

int as_int(std::int64_t number) { return static_cast<int>(number); }

/// Scratch memory from its first aligned byte on.
CudnnScratch aligned(CudnnScratch scratch) {
  if (std::align(workspace_alignment, 0, scratch.data, scratch.bytes) == nullptr) {
    return {nullptr, 0};
  }
  return scratch;
}

}  // namespace

struct CudnnConv::Impl {
  explicit Impl(CudnnApi functions) : api(std::move(functions)) {}

  void require(int code, const char* call) const {
    if (code != cudnn_code::success) {
      throw InternalError(std::string("ops::conv2d: ") + call + ": " + api.error_text(code));
    }
  }

  CudnnObject make(const std::function<int(void*&)>& create,
                   const std::function<int(void*)>& destroy, const char* call) const {
    void* made = nullptr;
    require(create(made), call);
    return CudnnObject(made, DestroyCudnnObject{&destroy});
  }

  /// A handle belongs to the device that is current when it is made, and wherever it is used.
  void make_ready(const CudnnCall& call) {
    if (!api.set_device(call.device)) {
      throw InternalError("ops::conv2d: cudaSetDevice: " + api.cuda_error_text());
    }
    if (handle == nullptr) {
      handle = make(api.create, api.destroy, "cudnnCreate");
      device = call.device;
    }
    ZYGOS_REQUIRE(device == call.device, "ops::conv2d: cuDNN's handle is of another device");
    require(api.set_stream(handle.get(), call.stream), "cudnnSetStream");
  }

  CudnnObject image(DType dtype, const Conv2d& conv, std::int64_t channels, std::int64_t height,
                    std::int64_t width) const {
    CudnnObject made = make(api.create_tensor, api.destroy_tensor, "cudnnCreateTensorDescriptor");
    require(api.set_tensor(made.get(), dtype, as_int(conv.samples), as_int(channels),
                           as_int(height), as_int(width)),
            "cudnnSetTensor4dDescriptor");
    return made;
  }

  CudnnObject filters(DType dtype, const Conv2d& conv) const {
    CudnnObject made = make(api.create_filter, api.destroy_filter, "cudnnCreateFilterDescriptor");
    require(
        api.set_filter(made.get(), dtype, as_int(conv.filters), as_int(conv.channels / conv.groups),
                       as_int(conv.y.kernel), as_int(conv.x.kernel)),
        "cudnnSetFilter4dDescriptor");
    return made;
  }

  CudnnObject convolution(DType dtype, const Conv2d& conv) const {
    CudnnObject made =
        make(api.create_convolution, api.destroy_convolution, "cudnnCreateConvolutionDescriptor");
    const CudnnWindow window{as_int(conv.y.padding),  as_int(conv.x.padding),
                             as_int(conv.y.stride),   as_int(conv.x.stride),
                             as_int(conv.y.dilation), as_int(conv.x.dilation)};
    require(api.set_convolution(made.get(), window, dtype), "cudnnSetConvolution2dDescriptor");
    require(api.set_groups(made.get(), as_int(conv.groups)), "cudnnSetConvolutionGroupCount");
    require(api.set_fma_math(made.get()), "cudnnSetConvolutionMathType");
    return made;
  }

  CudnnPlan& plan_of(const CudnnCall& call) {
    const CudnnPlanKey key{call.conv, call.dtype};
    if (const auto found = plans.find(key); found != plans.end()) {
      return found->second;
    }
    if (plans.size() >= max_kept) {
      plans.clear();
    }
    const Conv2d& c = call.conv;
    CudnnPlan plan{image(call.dtype, c, c.channels, c.y.input, c.x.input),
                   filters(call.dtype, c),
                   image(call.dtype, c, c.filters, c.y.output(), c.x.output()),
                   convolution(call.dtype, c),
                   {}};
    return plans.emplace(key, std::move(plan)).first->second;
  }

  const std::vector<CudnnAlgorithm>& algorithms_of(const CudnnPassRule& rule,
                                                   CudnnPlan& plan) const {
    auto& known = plan.algorithms[rule.index];
    if (!known) {
      std::vector<CudnnAlgorithm> found;
      for (const int number : rule.algorithms) {
        std::size_t bytes = 0;
        const int code =
            (api.*rule.functions)
                .workspace_size(handle.get(), (plan.*rule.first).get(), (plan.*rule.second).get(),
                                plan.convolution.get(), (plan.*rule.result).get(), number, bytes);
        if (!cudnn_code::is_not_supported(code)) {
          require(code, rule.workspace_call);
          found.push_back({number, bytes});
        }
      }
      known = std::move(found);
    }
    return *known;
  }

  bool compute(const CudnnPassRule& rule, const CudnnCall& call, const CudnnOperands& operands,
               bool adds) {
    if (!has_cudnn_size(call.conv)) {
      return false;
    }
    make_ready(call);
    CudnnPlan& plan = plan_of(call);
    const CudnnScratch scratch = aligned(call.scratch);
    const CudnnFactor alpha{1.0F, 1.0};
    const CudnnFactor beta{adds ? 1.0F : 0.0F, adds ? 1.0 : 0.0};
    for (const CudnnAlgorithm& algorithm : algorithms_of(rule, plan)) {
      if (algorithm.workspace > scratch.bytes) {
        continue;
      }
      const int code =
          (api.*rule.functions)
              .run(handle.get(), alpha.of(call.dtype), {(plan.*rule.first).get(), operands.first},
                   {(plan.*rule.second).get(), operands.second}, plan.convolution.get(),
                   algorithm.number, {scratch.data, algorithm.workspace}, beta.of(call.dtype),
                   {(plan.*rule.result).get(), operands.result});
      if (!cudnn_code::is_not_supported(code)) {
        require(code, rule.call);
        return true;
      }
    }
    return false;
  }

  const CudnnApi api;  // first: what follows is destroyed by its functions
  CudnnObject handle;
  int device = 0;  ///< the handle's
  std::map<CudnnPlanKey, CudnnPlan> plans;
};

CudnnConv::CudnnConv(CudnnApi api) : impl_(std::make_unique<Impl>(std::move(api))) {}
CudnnConv::~CudnnConv() = default;

bool CudnnConv::forward(const CudnnCall& call, const void* x, const void* w, void* y) {
  return impl_->compute(forward_rule, call, {x, w, y}, false);
}

bool CudnnConv::input_gradient(const CudnnCall& call, const void* w, const void* d_y, void* d_x) {
  return impl_->compute(data_rule, call, {w, d_y, d_x}, false);
}

bool CudnnConv::filter_gradient(const CudnnCall& call, const void* x, const void* d_y, void* d_w,
                                bool adds) {
  return impl_->compute(filter_rule, call, {x, d_y, d_w}, adds);
}

}  // namespace zygos::ops
