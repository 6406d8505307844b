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

FakeCudnn::Shape FakeCudnn::shape_of(const Order& order, void* first, void* second, void* of,
                                     void* result) const {
  std::array<void*, 3> operands{};
  operands[order[0]] = first;
  operands[order[1]] = second;
  operands[order[2]] = result;
  return {arrays_.at(operands[0]), arrays_.at(operands[1]), arrays_.at(operands[2]),
          convolutions_.at(of)};
}

/// What cuDNN refuses as a bad parameter, and what would be rounded to TF32.
bool FakeCudnn::fits(const Shape& shape) {
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

/// f(places in x, w and y) for every product.
template <class F>
void FakeCudnn::for_each_product(const Shape& shape, const F& f) {
  const auto& x = shape.x.sizes;
  const auto& w = shape.w.sizes;
  const ops::CudnnWindow& at = shape.convolution.window;
  const int filters_of_group = w[0] / shape.convolution.groups;
  for_each_place(shape.y.sizes, [&](int n, int k, int row, int column) {
    for_each_place({1, w[1], w[2], w[3]}, [&](int, int c, int r, int s) {
      const int i = row * at.stride_y + r * at.dilation_y - at.padding_y;
      const int j = column * at.stride_x + s * at.dilation_x - at.padding_x;
      if (i >= 0 && i < x[2] && j >= 0 && j < x[3]) {
        f(std::array{place_in(x, n, k / filters_of_group * w[1] + c, i, j), place_in(w, k, c, r, s),
                     place_in(shape.y.sizes, n, k, row, column)});
      }
    });
  });
}

template <class T>
void FakeCudnn::compute(const Order& order, const Shape& shape, const void* alpha,
                        const void* first, const void* second, const void* beta, void* result) {
  const auto* const a = static_cast<const T*>(first);
  const auto* const b = static_cast<const T*>(second);
  const std::array arrays{&shape.x, &shape.w, &shape.y};
  std::vector<double> sums(size_of_array(arrays[order[2]]->sizes), 0.0);
  for_each_product(shape, [&](const std::array<std::size_t, 3>& places) {
    sums[places[order[2]]] += double(a[places[order[0]]]) * double(b[places[order[1]]]);
  });
  const auto times = double(*static_cast<const T*>(alpha));
  const auto kept = double(*static_cast<const T*>(beta));
  auto* const out = static_cast<T*>(result);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    out[i] = static_cast<T>(times * sums[i] + (kept == 0.0 ? 0.0 : kept * double(out[i])));
  }
}

std::size_t FakeCudnn::workspace_of(const std::string& name, int algorithm) const {
  const auto found = workspaces.find({name, algorithm});
  return found == workspaces.end() ? 0 : found->second;
}

/// Whether a convolution may write to its workspace, which it then does.
bool FakeCudnn::use(const ops::CudnnScratch& scratch, std::size_t needed) {
  if (needed == 0) {
    return true;
  }
  if (scratch.bytes < needed || reinterpret_cast<std::uintptr_t>(scratch.data) % 256 != 0) {
    return false;
  }
  std::memset(scratch.data, 0x7f, needed);
  wrote_to_scratch = true;
  return true;
}

ops::CudnnPass FakeCudnn::pass(const Order& order, const std::string& name) {
  const std::string size_name = "cudnnGet" + name.substr(5) + "WorkspaceSize";
  ops::CudnnPass made;
  made.workspace_size = [=, this](void* handle, void* first, void* second, void* of, void* result,
                                  int algorithm, std::size_t& bytes) {
    if (!alive_.contains(handle) || !fits(shape_of(order, first, second, of, result))) {
      return bad_param;
    }
    bytes = workspace_of(name, algorithm);
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
    const Shape shape = shape_of(order, first.descriptor, second.descriptor, of, result.descriptor);
    if (!alive_.contains(handle) || !fits(shape) || !use(scratch, workspace_of(name, algorithm))) {
      return bad_param;
    }
    shape.x.dtype == DType::f64
        ? compute<double>(order, shape, alpha, first.data, second.data, beta, result.data)
        : compute<float>(order, shape, alpha, first.data, second.data, beta, result.data);
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
  api.forward = pass({0, 1, 2}, "cudnnConvolutionForward");
  api.backward_data = pass({1, 2, 0}, "cudnnConvolutionBackwardData");
  api.backward_filter = pass({0, 2, 1}, "cudnnConvolutionBackwardFilter");
  api.error_text = [](int code) { return "code " + std::to_string(code); };
  api.set_device = [this](int wanted) {
    device = wanted;
    return has_device;
  };
  api.cuda_error_text = [] { return std::string("no device"); };
  return api;
}

}  // namespace zygos::testing
