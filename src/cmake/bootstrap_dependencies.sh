# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by ./bootstrap: gets the pinned dependencies that no distribution packages, Kokkos and Catch2 3, into
# prefixes in the cache. Lines that can fail end in `|| return`: bash ignores `set -e` in functions that are called
# where somebody asks whether they failed.
# shellcheck shell=bash disable=SC2154  # variables of ./bootstrap

# Kokkos and Kokkos Kernels: the official archives and, where their site cannot be reached, the Python
# source distribution that carries complete sources of slightly older ones.
archive_version=4.7.02
archive_url=https://github.com/kokkos/NAME/releases/download/$archive_version/NAME-$archive_version.tar.gz
archive_sha256_kokkos=a81826ac0a167933d13506bc2a986fb5517038df9abb780fe9bb2c1d4e80803b
archive_sha256_kokkos_kernels=2d3b3e10ac112e382b88c50d66e4222ce543fca5d42be6d8376a684b82b8b238
sdist=pygenten-0.1.5
sdist_version=4.7.00
sdist_sha256=e620f05c742905e2db705d875f1cac92ef0ed453f9e6734e9beda26cc0f9cce7
catch2_version=3.7.1
catch2_url=https://github.com/catchorg/Catch2/archive/refs/tags/v$catch2_version.tar.gz
catch2_sha256=c991b247a1a0d7bb9c39aa35faf0fe9e19764213f28ffba3109388e62ee0269c

# ---------------------------------------------------------------- sources

# download URL SHA256 FILE, with CMake, which is needed anyhow. Fails quickly where there is no network.
download() {
  [[ ! -f $3 ]] || return 0
  mkdir -p "$(dirname "$3")"
  cat >"$3.cmake" <<SCRIPT
file(DOWNLOAD "$1" "$3.part" STATUS status INACTIVITY_TIMEOUT 20 TIMEOUT 600)
list(GET status 0 code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "cannot download $1: \${status}")
endif()
SCRIPT
  cmake -P "$3.cmake" || return
  echo "$2  $3.part" | sha256sum --quiet -c || return
  mv "$3.part" "$3"
}

# unpack ARCHIVE FOLDER ARGUMENT OF TAR...: as a whole or not at all.
unpack() {
  local archive=$1 folder=$2
  shift 2
  rm -rf "$folder.part"
  mkdir -p "$folder.part"
  tar -xf "$archive" -C "$folder.part" "$@" || return
  mv "$folder.part" "$folder"
}

fetch_archives() {
  local name sha256
  for name in kokkos kokkos-kernels; do
    sha256=archive_sha256_${name/-/_}
    download "${archive_url//NAME/$name}" "${!sha256}" "$cache/downloads/$name-$archive_version.tar.gz" || return
  done
  for name in kokkos kokkos-kernels; do
    [[ -d $cache/sources/$name-$archive_version ]] ||
      unpack "$cache/downloads/$name-$archive_version.tar.gz" "$cache/sources/$name-$archive_version" \
        --strip-components=1 || return
  done
}

fetch_sdist() {
  local file=$cache/downloads/$sdist.tar.gz name
  if [[ ! -f $file ]]; then
    mkdir -p "$cache/downloads/part"
    (cd "$cache/downloads/part" &&
      python3 -m pip download -q --no-deps --no-binary "${sdist%-*}" "${sdist/-/==}") || return
    echo "$sdist_sha256  $cache/downloads/part/$sdist.tar.gz" | sha256sum --quiet -c || return
    mv "$cache/downloads/part/$sdist.tar.gz" "$file"
  fi
  for name in kokkos kokkos-kernels; do
    [[ -d $cache/sources/$name-$sdist_version ]] ||
      unpack "$file" "$cache/sources/$name-$sdist_version" --strip-components=3 "$sdist/tpls/$name" || return
  done
}

# ---------------------------------------------------------------- Kokkos

device_of() {
  case $1 in
    cuda) echo cuda ;;
    *) echo none ;;
  esac
}

cuda_arch() {
  local found
  found=${ZYGOS_CUDA_ARCH:-$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .)}
  case ${found:-90} in
    75) echo TURING75 ;;
    80 | 86) echo "AMPERE$found" ;;
    89) echo ADA89 ;;
    90) echo HOPPER90 ;;
    100 | 120) echo "BLACKWELL$found" ;;
    *) die "compute capability '$found' is not known here; allowed are 75, 80, 86, 89, 90, 100 and 120 (ZYGOS_CUDA_ARCH)" ;;
  esac
}

# What -march=native means here: code for another processor must never be taken from the cache.
machine() {
  "$compiler" -march="$host_arch" -E -v -x c++ /dev/null 2>&1 | grep -E 'cc1plus|gcc version|clang version'
}

configuration() { # DEVICE
  machine
  echo "arch $host_arch, device $1 ${cuda:-}"
}

build_kokkos() { # VERSION PREFIX DEVICE
  local version=$1 prefix=$2 device=$3 work flags= options=() sources=$cache/sources/kokkos-$1
  work=$(mktemp -d "$cache/build.XXXXXX")
  if [[ $host_arch == native ]]; then options+=(-DKokkos_ARCH_NATIVE=ON); else flags="-march=$host_arch"; fi
  if [[ $device == cuda ]]; then
    # nvcc 13 knows no sm_70, which nvcc_wrapper assumes while CMake tries the compiler.
    sed -i "s/^default_arch=\"sm_70\"/default_arch=\"sm_${cuda//[A-Z]/}\"/" "$sources/bin/nvcc_wrapper"
    options+=(-DKokkos_ENABLE_CUDA=ON "-DKokkos_ARCH_$cuda=ON" -DKokkos_ENABLE_CUDA_CONSTEXPR=ON
      "-DCMAKE_CXX_COMPILER=$sources/bin/nvcc_wrapper")
    [[ $version != "$sdist_version" ]] || flags+=" -include $root/src/cmake/kokkos_cuda13.hpp"
  else
    options+=("-DCMAKE_CXX_COMPILER=$compiler")
  fi
  cmake -G Ninja -S "$sources" -B "$work" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_INSTALL_PREFIX=$prefix" \
    "-DCMAKE_CXX_FLAGS=$flags" -DCMAKE_CXX_STANDARD=20 -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DKokkos_ENABLE_OPENMP=ON -DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_DEPRECATED_CODE_4=OFF "${options[@]}" &&
    cmake --build "$work" -j "$jobs" --target install || return
  [[ $device == none ]] || build_kokkos_kernels "$version" "$prefix" "$flags" || return
  rm -rf "$work"
  touch "$prefix/.complete"
}

# Only what a device needs: matrix products through the vendor's library, compiled where they are used.
build_kokkos_kernels() { # VERSION PREFIX FLAGS
  local prefix=$2 work
  work=$(mktemp -d "$cache/build.XXXXXX")
  cmake -G Ninja -S "$cache/sources/kokkos-kernels-$1" -B "$work" -DCMAKE_BUILD_TYPE=Release \
    "-DCMAKE_INSTALL_PREFIX=$prefix" "-DKokkos_ROOT=$prefix" "-DCMAKE_CXX_FLAGS=$3" \
    "-DCMAKE_CXX_COMPILER=$prefix/bin/nvcc_wrapper" -DCMAKE_CXX_STANDARD=20 -DKokkosKernels_ADD_DEFAULT_ETI=OFF \
    -DKokkosKernels_ENABLE_ALL_COMPONENTS=OFF -DKokkosKernels_ENABLE_COMPONENT_BLAS=ON \
    -DKokkosKernels_ENABLE_TPL_BLAS=OFF -DKokkosKernels_ENABLE_TPL_CUBLAS=ON \
    -DKokkosKernels_ENABLE_TPL_CUSPARSE=OFF -DKokkosKernels_ENABLE_TPL_CUSOLVER=OFF &&
    cmake --build "$work" -j "$jobs" --target install || return
  rm -rf "$work"
}

# Sets kokkos_prefix.
need_kokkos() { # DEVICE
  local device=$1 id version
  if [[ -n ${Kokkos_ROOT:-} ]]; then
    kokkos_prefix=$Kokkos_ROOT
    return 0
  fi
  id=$device-$(configuration "$device" | sha256sum | cut -c 1-12)
  for version in "$archive_version" "$sdist_version"; do
    kokkos_prefix=$cache/kokkos-$version-$id
    [[ ! -f $kokkos_prefix/.complete ]] || return 0
  done
  version=$archive_version
  if ! try_step "Fetching Kokkos $version" fetch_archives; then
    version=$sdist_version
    say "the official archives cannot be fetched from here; taking Kokkos $version from $sdist"
    python3 -m pip --version >/dev/null 2>&1 || need_packages python3-pip
    step "Fetching Kokkos $version" fetch_sdist
  fi
  kokkos_prefix=$cache/kokkos-$version-$id
  rm -rf "$kokkos_prefix"
  step "Building Kokkos $version (device: $device)" build_kokkos "$version" "$kokkos_prefix" "$device"
}

# ---------------------------------------------------------------- Catch2

# Fetches Debian's backport without touching the system's apt: own sources, own lists, unpacked, not installed.
catch2_backport() { # PREFIX
  local apt=$cache/apt mirror key=/usr/share/keyrings/debian-archive-keyring.gpg options
  [[ $(. /etc/os-release && echo "${VERSION_CODENAME:-}") == bookworm ]] || return 1
  rm -rf "$apt"
  mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/package"
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk '$2 == "bookworm" && $3 == "main" { print $1; exit }')
  echo "deb [signed-by=$key] $mirror bookworm-backports main" >"$apt/sources.list"
  options=(-q -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt" -o APT::Sandbox::User=)
  apt-get "${options[@]}" update || return
  (cd "$apt/package" && apt-get "${options[@]}" download libcatch2-dev) || return
  dpkg -x "$apt"/package/libcatch2-dev_3*.deb "$apt/root" || return
  mv "$apt/root/usr" "$1"
  rm -rf "$apt"
}

catch2_archive() { # PREFIX
  local sources=$cache/sources/catch2-$catch2_version
  download "$catch2_url" "$catch2_sha256" "$cache/downloads/catch2-$catch2_version.tar.gz" || return
  [[ -d $sources ]] ||
    unpack "$cache/downloads/catch2-$catch2_version.tar.gz" "$sources" --strip-components=1 || return
  cmake -G Ninja -S "$sources" -B "$sources/build" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_INSTALL_PREFIX=$1" \
    -DCMAKE_CXX_STANDARD=20 -DCATCH_INSTALL_DOCS=OFF -DBUILD_TESTING=OFF || return
  cmake --build "$sources/build" -j "$jobs" --target install
}

fetch_catch2() { # PREFIX
  rm -rf "$1"
  catch2_backport "$1" || catch2_archive "$1" || return
  touch "$1/.complete"
}

# Sets catch2_prefix; empty where the system's own is recent enough.
need_catch2() {
  local installed
  catch2_prefix=${Catch2_ROOT:-}
  [[ -z $catch2_prefix ]] || return 0
  installed=$(dpkg-query -W -f '${Version}' catch2 2>/dev/null || true)
  [[ $installed != 3.* ]] || return 0
  catch2_prefix=$cache/catch2-$catch2_version
  [[ -f $catch2_prefix/.complete ]] || step "Fetching Catch2 3" fetch_catch2 "$catch2_prefix"
}
