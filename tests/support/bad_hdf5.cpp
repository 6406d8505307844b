// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/hdf5_handles.hpp"
#include "support/bad_data.hpp"
#include "support/idx_files.hpp"

#include "zygos/io/hdf5_dataset.hpp"

#include <array>
#include <functional>
#include <limits>
#include <numeric>

namespace zygos::test::detail {
namespace {

namespace h5 = io::hdf5;
using Extents = std::vector<hsize_t>;

h5::Space space_of(const Extents& dimensions, const Extents& most = {}) {
  return h5::Space(H5Screate_simple(static_cast<int>(dimensions.size()), dimensions.data(),
                                    most.empty() ? nullptr : most.data()),
                   "make a space");
}

h5::PropertyList dataset_properties() {
  return h5::PropertyList(H5Pcreate(H5P_DATASET_CREATE), "make properties");
}

h5::Dataset create(hid_t file, const char* name, hid_t type, hid_t space,
                   hid_t properties = H5P_DEFAULT) {
  return h5::Dataset(H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                     name);
}

template <class T>
void put(hid_t file, const char* name, hid_t type, const Extents& dimensions,
         const std::vector<T>& values, hid_t properties = H5P_DEFAULT) {
  const auto space = space_of(dimensions);
  const auto dataset = create(file, name, type, space, properties);
  h5::check(H5Dwrite(dataset, io::hdf5::memory_type(dtype_of<T>), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                     values.data()),
            "write");
}

void put_good_inputs(hid_t file) {
  put<float>(file, "x", H5T_IEEE_F32LE, {3, 2}, {0, 1, 2, 3, 4, 5});
}
void put_good_labels(hid_t file) { put<std::int32_t>(file, "y", H5T_STD_I32LE, {3}, {0, 1, 2}); }

class Hdf5Writer {
 public:
  explicit Hdf5Writer(const std::filesystem::path& folder) : folder_(folder) {}

  std::filesystem::path path(const std::string& name) const { return folder_ / (name + ".h5"); }

  BadData& add(const std::string& name) {
    const std::string file = name + ".h5";
    all.push_back({.name = name,
                   .format = BadFormat::hdf5,
                   .inputs = file,
                   .targets = file,
                   .inputs_dataset = "x",
                   .targets_dataset = "y",
                   .classes = 0,
                   .message = {}});
    return all.back();
  }
  using Fill = std::function<void(hid_t file)>;
  BadData& file(const std::string& name, const Fill& fill) {
    const h5::Session session;
    const h5::File out(H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                       "create");
    fill(out);
    return add(name);
  }
  BadData& inputs(const std::string& name, const Fill& fill) {
    return file(name, [&](hid_t out) {
      fill(out);
      put_good_labels(out);
    });
  }
  BadData& targets(const std::string& name, const Fill& fill) {
    return file(name, [&](hid_t out) {
      put_good_inputs(out);
      fill(out);
    });
  }

  std::vector<BadData> all;

 private:
  std::filesystem::path folder_;
};

void bad_files(Hdf5Writer& write) {
  write_bytes(write.path("hdf5-empty"), {});
  write.add("hdf5-empty");
  write_bytes(write.path("hdf5-text"), Bytes(600, 'z'));
  write.add("hdf5-text");
  write.inputs("hdf5-cut", put_good_inputs);
  std::filesystem::resize_file(write.path("hdf5-cut"), 1000);

  const std::string sums = "hdf5-wrong-checksum";
  write.inputs(sums, [](hid_t file) {
    const auto properties = dataset_properties();
    const Extents chunk{64, 2};
    h5::check(H5Pset_chunk(properties, 2, chunk.data()), "chunk");
    h5::check(H5Pset_fletcher32(properties), "sum");
    put<std::uint8_t>(file, "x", H5T_STD_U8LE, {64, 2}, std::vector<std::uint8_t>(128, 0xA5),
                      properties);
  });
  Bytes bytes = read_bytes(write.path(sums));
  const Bytes run(128, 0xA5);
  const auto at = std::search(bytes.begin(), bytes.end(), run.begin(), run.end());
  at[5] ^= 1U;
  write_bytes(write.path(sums), bytes);
  // 64 samples belong to these inputs.
  const h5::Session session;
  const h5::File file(H5Fopen(write.path(sums).c_str(), H5F_ACC_RDWR, H5P_DEFAULT), "open");
  put<std::int32_t>(file, "labels", H5T_STD_I32LE, {64}, std::vector<std::int32_t>(64, 0));
  write.all.back().targets_dataset = "labels";
}

void bad_names(Hdf5Writer& write) {
  write.inputs("hdf5-no-such-name", put_good_inputs).inputs_dataset = "images";
  write.inputs("hdf5-group", [](hid_t file) {
    const h5::Group group(H5Gcreate2(file, "x", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "group");
    put_good_inputs(group);
  });
  write.inputs("hdf5-data-set-as-group", put_good_inputs).inputs_dataset = "x/images";
  write.inputs("hdf5-soft-link", [](hid_t file) {
    h5::check(H5Lcreate_soft("/y", file, "x", H5P_DEFAULT, H5P_DEFAULT), "link");
  });
  write.inputs("hdf5-external-link", [](hid_t file) {
    h5::check(H5Lcreate_external("hdf5-group.h5", "/x/x", file, "x", H5P_DEFAULT, H5P_DEFAULT),
              "link");
  });
  write.inputs("hdf5-stored-type", [](hid_t file) {
    const h5::Type type(H5Tcopy(H5T_STD_U8LE), "type");
    h5::check(H5Tcommit2(file, "x", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "commit");
  });
}

void bad_storage(Hdf5Writer& write) {
  write.inputs("hdf5-external-storage", [](hid_t file) {
    const auto properties = dataset_properties();
    h5::check(H5Pset_external(properties, "hdf5-text.h5", 0, 6), "external");
    create(file, "x", H5T_STD_U8LE, space_of({3, 2}), properties);
  });
  write.inputs("hdf5-virtual", [](hid_t file) {
    const auto space = space_of({3, 2});
    const auto properties = dataset_properties();
    h5::check(H5Pset_virtual(properties, space, "hdf5-group.h5", "/x/x", space), "virtual");
    create(file, "x", H5T_IEEE_F32LE, space, properties);
  });
  write.inputs("hdf5-filter", [](hid_t file) {
    const auto properties = dataset_properties();
    const Extents chunk{3, 2};
    h5::check(H5Pset_chunk(properties, 2, chunk.data()), "chunk");
    h5::check(H5Pset_scaleoffset(properties, H5Z_SO_INT, 0), "filter");
    put<std::int32_t>(file, "x", H5T_STD_I32LE, {3, 2}, {0, 1, 2, 3, 4, 5}, properties);
  });
  write.inputs("hdf5-chunk-missing", [](hid_t file) {
    const auto properties = dataset_properties();
    const Extents chunk{1, 2};
    h5::check(H5Pset_chunk(properties, 2, chunk.data()), "chunk");
    h5::check(H5Pset_deflate(properties, 1), "deflate");
    const auto space = space_of({3, 2});
    const auto dataset = create(file, "x", H5T_STD_I32LE, space, properties);
    const Extents start{0, 0};
    const Extents count{2, 2};
    h5::check(
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
        "select");
    const std::vector<std::int32_t> values(6, 1);
    h5::check(H5Dwrite(dataset, H5T_NATIVE_INT32, space, space, H5P_DEFAULT, values.data()),
              "write");
  });
}

void bombs(Hdf5Writer& write) {
  constexpr hsize_t huge = hsize_t{1} << 31;
  write.inputs("hdf5-bomb-never-written", [](hid_t file) {
    create(file, "x", H5T_IEEE_F64LE, space_of({huge, huge >> 8}));
  });
  write.inputs("hdf5-bomb-no-chunks", [](hid_t file) {
    const auto properties = dataset_properties();
    const Extents chunk{1024, 1024};
    h5::check(H5Pset_chunk(properties, 2, chunk.data()), "chunk");
    h5::check(H5Pset_deflate(properties, 9), "deflate");
    create(file, "x", H5T_IEEE_F64LE, space_of({huge, huge >> 4}), properties);
  });
  write.inputs("hdf5-bomb-elements", [](hid_t file) {
    const auto properties = dataset_properties();
    const Extents chunk{1, 1, 1};
    h5::check(H5Pset_chunk(properties, 3, chunk.data()), "chunk");
    create(file, "x", H5T_STD_U8LE, space_of({huge, huge >> 1, 2}), properties);
  });
  write.inputs("hdf5-bomb-chunk", [](hid_t file) {
    const auto properties = dataset_properties();
    const Extents chunk{hsize_t{80} << 20};
    h5::check(H5Pset_chunk(properties, 1, chunk.data()), "chunk");
    h5::check(H5Pset_deflate(properties, 9), "deflate");
    const auto dataset =
        create(file, "x", H5T_STD_U8LE, space_of({3}, {H5S_UNLIMITED}), properties);
    const std::array<std::uint8_t, 3> values{1, 2, 3};
    h5::check(H5Dwrite(dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
              "write");
  });
}

void bad_types(Hdf5Writer& write) {
  write.inputs("hdf5-compound", [](hid_t file) {
    const h5::Type type(H5Tcreate(H5T_COMPOUND, 8), "type");
    h5::check(H5Tinsert(type, "a", 0, H5T_IEEE_F32LE), "member");
    h5::check(H5Tinsert(type, "b", 4, H5T_IEEE_F32LE), "member");
    create(file, "x", type, space_of({3}));
  });
  write.inputs("hdf5-strings", [](hid_t file) {
    const h5::Type type(H5Tcopy(H5T_C_S1), "type");
    h5::check(H5Tset_size(type, 5), "size");
    create(file, "x", type, space_of({3}));
  });
  write.inputs("hdf5-enumeration", [](hid_t file) {
    const h5::Type type(H5Tenum_create(H5T_STD_I8LE), "type");
    const std::int8_t value = 1;
    h5::check(H5Tenum_insert(type, "TRUE", &value), "member");
    create(file, "x", type, space_of({3, 2}));
  });
  write.inputs("hdf5-half-precision", [](hid_t file) {
    const h5::Type type(H5Tcopy(H5T_IEEE_F32LE), "type");
    h5::check(H5Tset_fields(type, 15, 10, 5, 0, 10), "fields");
    h5::check(H5Tset_size(type, 2), "size");
    h5::check(H5Tset_ebias(type, 15), "bias");
    create(file, "x", type, space_of({3, 2}));
  });
  write.inputs("hdf5-named-type", [](hid_t file) {
    const h5::Type type(H5Tcopy(H5T_IEEE_F32LE), "type");
    h5::check(H5Tcommit2(file, "t", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "commit");
    create(file, "x", type, space_of({3, 2}));
  });
}

void bad_shapes(Hdf5Writer& write) {
  write.inputs("hdf5-scalar", [](hid_t file) {
    create(file, "x", H5T_IEEE_F32LE, h5::Space(H5Screate(H5S_SCALAR), "space"));
  });
  write.inputs("hdf5-rank-7",
               [](hid_t file) { create(file, "x", H5T_STD_U8LE, space_of(Extents(7, 1))); });
  write.inputs("hdf5-no-samples", [](hid_t file) {
    create(file, "x", H5T_STD_U8LE, space_of({0, 2}));
  });
  write.targets("hdf5-fewer-labels", [](hid_t file) {
    put<std::int32_t>(file, "y", H5T_STD_I32LE, {2}, {0, 1});
  });
  write.targets("hdf5-label-matrix", [](hid_t file) {
    put<std::int32_t>(file, "y", H5T_STD_I32LE, {3, 2}, {0, 1, 0, 1, 0, -1});
  });
}

void bad_values(Hdf5Writer& write) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  write.inputs("hdf5-nan", [](hid_t file) {
    put<float>(file, "x", H5T_IEEE_F32BE, {3, 2}, {0, 1, 2, 3, 4, nan});
  });
  write.targets("hdf5-infinite-target", [](hid_t file) {
    put<double>(file, "y", H5T_IEEE_F64LE, {3}, {0, -infinity, 1});
  });
  const auto labels = [](std::vector<std::int64_t> values) {
    return [values = std::move(values)](hid_t file) {
      put<std::int64_t>(file, "y", H5T_STD_I64LE, {3}, values);
    };
  };
  write.targets("hdf5-label-too-large", labels({0, 9, 10})).classes = 10;
  write.targets("hdf5-label-negative", labels({-1, 0, 1}));
  write.targets("hdf5-label-beyond-32-bits", labels({0, std::int64_t{1} << 32, 1}));
  write
      .targets("hdf5-float-labels",
               [](hid_t file) {
                 put<float>(file, "y", H5T_IEEE_F32LE, {3}, {0, 1, 2});
               })
      .classes = 3;
}

}  // namespace

std::vector<BadData> write_bad_hdf5(const std::filesystem::path& folder) {
  Hdf5Writer write(folder);
  bad_files(write);
  bad_names(write);
  bad_storage(write);
  bombs(write);
  bad_types(write);
  bad_shapes(write);
  bad_values(write);
  return write.all;
}

}  // namespace zygos::test::detail
