// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/fake_cudnn.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace zygos::testing {

std::size_t FakeCudnn::count(const std::string& name) const {
  return static_cast<std::size_t>(std::count(calls.begin(), calls.end(), name));
}

int FakeCudnn::call(const std::string& name) {
  calls.push_back(name);
  const auto found = returns.find(name);
  return found == returns.end() ? ops::cudnn_code::success : found->second;
}

int FakeCudnn::make(void*& object, const std::string& name) {
  const int code = call(name);
  if (code == ops::cudnn_code::success) {
    object = addresses_.emplace_back(std::make_unique<int>(0)).get();
    alive_.insert(object);
  }
  return code;
}

int FakeCudnn::destroy(void* object, const std::string& name) {
  if (alive_.erase(object) == 0) {
    throw std::logic_error(name + " of what is not there");
  }
  arrays_.erase(object);
  convolutions_.erase(object);
  return call(name);
}

const FakeCudnn::Array& FakeCudnn::array(void* object) const { return arrays_.at(object); }
const FakeCudnn::Convolution& FakeCudnn::convolution(void* object) const {
  return convolutions_.at(object);
}

FakeCudnn::Shape FakeCudnn::shape_of(Pass pass, void* first, void* second, void* of,
                                     void* result) const {
  switch (pass) {
    case Pass::forward:
      return {array(first), array(second), array(result), convolution(of)};
    case Pass::backward_data:
      return {array(result), array(first), array(second), convolution(of)};
    default:
      return {array(first), array(result), array(second), convolution(of)};
  }
}

/// What cuDNN refuses as a bad parameter, and what would be rounded to TF32.
bool FakeCudnn::fits(const Shape& shape) const {
  const Array& x = shape.x;
  const Array& w = shape.w;
  const Array& y = shape.y;
  const Convolution& of = shape.convolution;
  const auto output = [](int input, int kernel, int padding, int stride, int dilation) {
    return 1 + (input + 2 * padding - (1 + (kernel - 1) * dilation)) / stride;
  };
  const ops::CudnnWindow& at = of.window;
  const std::array expected{
      x.sizes[0], w.sizes[0],
      output(x.sizes[2], w.sizes[2], at.padding_y, at.stride_y, at.dilation_y),
      output(x.sizes[3], w.sizes[3], at.padding_x, at.stride_x, at.dilation_x)};
  return of.fma && y.sizes == expected && x.sizes[1] == w.sizes[1] * of.groups &&
         w.sizes[0] % of.groups == 0 && x.dtype == w.dtype && w.dtype == y.dtype &&
         y.dtype == of.dtype && (x.dtype == DType::f32 || x.dtype == DType::f64);
}

namespace {

/// Where an element of an array (a, b, c, d) lies.
std::size_t place_in(const std::array<int, 4>& sizes, int a, int b, int c, int d) {
  const auto as_size = [](int number) { return static_cast<std::size_t>(number); };
  return ((as_size(a) * as_size(sizes[1]) + as_size(b)) * as_size(sizes[2]) + as_size(c)) *
             as_size(sizes[3]) +
         as_size(d);
}

std::size_t size_of_array(const std::array<int, 4>& sizes) {
  std::size_t size = 1;
  for (const int extent : sizes) {
    size *= static_cast<std::size_t>(extent);
  }
  return size;
}

/// f(n, k, row, column) for every element of an array.
template <class F>
void for_each_place(const std::array<int, 4>& sizes, const F& f) {
  for (int a = 0; a < sizes[0]; ++a) {
    for (int b = 0; b < sizes[1]; ++b) {
      for (int c = 0; c < sizes[2]; ++c) {
        for (int d = 0; d < sizes[3]; ++d) {
          f(a, b, c, d);
        }
      }
    }
  }
}

}  // namespace

template <class T>
void FakeCudnn::compute(Pass pass, const Shape& shape, const void* alpha, const void* first,
                        const void* second, const void* beta, void* result) const {
  const Array& x = shape.x;
  const Array& w = shape.w;
  const Array& y = shape.y;
  const Convolution& of = shape.convolution;
  const auto* const a = static_cast<const T*>(first);
  const auto* const b = static_cast<const T*>(second);
  const Array& to = pass == Pass::forward ? y : pass == Pass::backward_data ? x : w;
  std::vector<double> sums(size_of_array(to.sizes), 0.0);
  for_each_place(y.sizes, [&](int n, int k, int row, int column) {
    for_each_place({1, w.sizes[1], w.sizes[2], w.sizes[3]}, [&](int, int c, int r, int s) {
      const int channel = k / (w.sizes[0] / of.groups) * w.sizes[1] + c;
      const int i = row * of.window.stride_y + r * of.window.dilation_y - of.window.padding_y;
      const int j = column * of.window.stride_x + s * of.window.dilation_x - of.window.padding_x;
      if (i < 0 || i >= x.sizes[2] || j < 0 || j >= x.sizes[3]) {
        return;
      }
      const std::size_t in_x = place_in(x.sizes, n, channel, i, j);
      const std::size_t in_w = place_in(w.sizes, k, c, r, s);
      const std::size_t in_y = place_in(y.sizes, n, k, row, column);
      switch (pass) {
        case Pass::forward:
          sums[in_y] += double(a[in_x]) * double(b[in_w]);
          break;
        case Pass::backward_data:
          sums[in_x] += double(a[in_w]) * double(b[in_y]);
          break;
        case Pass::backward_filter:
          sums[in_w] += double(a[in_x]) * double(b[in_y]);
          break;
      }
    });
  });
  const auto times = double(*static_cast<const T*>(alpha));
  const auto kept = double(*static_cast<const T*>(beta));
  auto* const out = static_cast<T*>(result);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    out[i] = static_cast<T>(times * sums[i] + (kept == 0.0 ? 0.0 : kept * double(out[i])));
  }
}

ops::CudnnPass FakeCudnn::pass(Pass which, const std::string& name) {
  const std::string size_name = "cudnnGet" + name.substr(5) + "WorkspaceSize";
  const auto workspace_of = [this, name](int algorithm) {
    const auto found = workspaces.find({name, algorithm});
    return found == workspaces.end() ? std::size_t{0} : found->second;
  };
  ops::CudnnPass made;
  made.workspace_size = [=, this](void* handle, void* first, void* second, void* of, void* result,
                                  int algorithm, std::size_t& bytes) {
    if (!alive_.contains(handle) || !fits(shape_of(which, first, second, of, result))) {
      return bad_param;
    }
    bytes = workspace_of(algorithm);
    return call(size_name);
  };
  made.run = [=, this](void* handle, const void* alpha, const ops::CudnnInput& first,
                       const ops::CudnnInput& second, void* of, int algorithm,
                       const ops::CudnnScratch& scratch, const void* beta,
                       const ops::CudnnOutput& result) {
    const int code = call(name);
    if (const auto other = returns_of.find({name, algorithm}); other != returns_of.end()) {
      return other->second;
    }
    const Shape shape = shape_of(which, first.descriptor, second.descriptor, of, result.descriptor);
    const std::size_t needed = workspace_of(algorithm);
    if (!alive_.contains(handle) || !fits(shape) || scratch.bytes < needed ||
        reinterpret_cast<std::uintptr_t>(scratch.data) % (needed == 0 ? 1 : 256) != 0) {
      return bad_param;
    }
    if (needed != 0) {
      std::memset(scratch.data, 0x7f, needed);
      wrote_to_scratch = true;
    }
    shape.x.dtype == DType::f64
        ? compute<double>(which, shape, alpha, first.data, second.data, beta, result.data)
        : compute<float>(which, shape, alpha, first.data, second.data, beta, result.data);
    computed.emplace_back(name, algorithm);
    return code;
  };
  return made;
}

void FakeCudnn::add_descriptors(ops::CudnnApi& api) {
  api.create_tensor = [this](void*& d) { return make(d, "cudnnCreateTensorDescriptor"); };
  api.destroy_tensor = [this](void* d) { return destroy(d, "cudnnDestroyTensorDescriptor"); };
  api.set_tensor = [this](void* d, DType dtype, int n, int c, int h, int w) {
    arrays_[d] = {dtype, {n, c, h, w}};
    return call("cudnnSetTensor4dDescriptor");
  };
  api.create_filter = [this](void*& d) { return make(d, "cudnnCreateFilterDescriptor"); };
  api.destroy_filter = [this](void* d) { return destroy(d, "cudnnDestroyFilterDescriptor"); };
  api.set_filter = [this](void* d, DType dtype, int k, int c, int h, int w) {
    arrays_[d] = {dtype, {k, c, h, w}};
    return call("cudnnSetFilter4dDescriptor");
  };
  api.create_convolution = [this](void*& d) { return make(d, "cudnnCreateConvolutionDescriptor"); };
  api.destroy_convolution = [this](void* d) {
    return destroy(d, "cudnnDestroyConvolutionDescriptor");
  };
  api.set_convolution = [this](void* d, const ops::CudnnWindow& window, DType dtype) {
    convolutions_[d] = {window, dtype, 1, false};
    return call("cudnnSetConvolution2dDescriptor");
  };
  api.set_groups = [this](void* d, int groups) {
    convolutions_.at(d).groups = groups;
    return call("cudnnSetConvolutionGroupCount");
  };
  api.set_fma_math = [this](void* d) {
    convolutions_.at(d).fma = true;
    return call("cudnnSetConvolutionMathType");
  };
}

ops::CudnnApi FakeCudnn::table() {
  ops::CudnnApi api;
  api.create = [this](void*& handle) { return make(handle, "cudnnCreate"); };
  api.destroy = [this](void* handle) { return destroy(handle, "cudnnDestroy"); };
  api.set_stream = [this](void*, void* wanted) {
    stream = wanted;
    return call("cudnnSetStream");
  };
  add_descriptors(api);
  api.forward = pass(Pass::forward, "cudnnConvolutionForward");
  api.backward_data = pass(Pass::backward_data, "cudnnConvolutionBackwardData");
  api.backward_filter = pass(Pass::backward_filter, "cudnnConvolutionBackwardFilter");
  api.error_text = [](int code) { return "code " + std::to_string(code); };
  api.set_device = [this](int wanted) {
    device = wanted;
    return has_device;
  };
  api.cuda_error_text = [] { return std::string("no device"); };
  return api;
}

}  // namespace zygos::testing
