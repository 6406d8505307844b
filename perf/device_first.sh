#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# The first ten minutes on a card: one command that packs a build for it, and one that tries everything there.
#
#   perf/device_first.sh pack [FOLDER]         build for CUDA and pack it (default folder: build/device)
#   perf/device_first.sh run [FOLDER] [ARGS]   try it, write FOLDER/device.md; see perf/device_steps.py --help
#
# `pack` makes FOLDER and FOLDER.tar.xz, and `run` unpacks the archive where there is no folder: the archive is what to
# take to the other machine, which needs only a driver and the CUDA toolkit's cuBLAS. `run` without either takes
# build/host, and without a card every step runs on the emulated device. cuDNN is half a gigabyte and not packed: the
# build is one without it, unless ZYGOS_CMAKE_ARGS has -DZYGOS_ENABLE_CUDNN=ON, for a machine that has cuDNN 9.
set -euo pipefail
cd "$(dirname "$0")/.."

limit_mib=50

pack() {
  local folder=$1 build=build/cuda target
  for target in zygos_app zygos_device_tests; do
    ZYGOS_HOST_ARCH=${ZYGOS_HOST_ARCH:-x86-64-v3} ZYGOS_CUDA_ARCH=${ZYGOS_CUDA_ARCH:-90} \
      ZYGOS_CMAKE_ARGS="-DZYGOS_ENABLE_MPI=OFF -DZYGOS_ENABLE_NCCL=OFF -DZYGOS_ENABLE_CUDNN=OFF -DZYGOS_ENABLE_EXAMPLES=OFF ${ZYGOS_CMAKE_ARGS:-}" \
      ./bootstrap build cuda "$target"
  done
  rm -rf "$folder" "$folder.tar.xz"
  mkdir -p "$folder/bin" "$folder/lib"
  cp "$build/bin/zygos" "$build/tests/zygos_device_tests" "$folder/bin/"
  # The machine's own: the C library, which belongs to its loader, and the toolkit, which belongs to its driver.
  local own='^(linux-vdso|ld-linux|libc|libm|libdl|librt|libpthread|libcuda|libcudart|libcublas|libcublasLt|libcudnn|libcusparse|libcusolver|libnvJitLink)\.'
  ldd "$folder"/bin/* | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u | while read -r library; do
    [[ $(basename "$library") =~ $own ]] || cp -L "$library" "$folder/lib/"
  done
  strip "$folder"/bin/* "$folder"/lib/*
  XZ_OPT=-T0 tar -C "$(dirname "$folder")" -cJf "$folder.tar.xz" "$(basename "$folder")"
  local mib
  mib=$(du -m "$folder.tar.xz" | cut -f 1)
  echo "packed $folder.tar.xz: $mib MiB, at most $limit_mib"
  ((mib <= limit_mib))
}

case ${1:-} in
  pack) pack "${2:-build/device}" ;;
  run)
    shift
    folder=build/device
    [[ ${1:--} == -* ]] || { folder=$1 && shift; }
    [[ -d $folder/bin || ! -e $folder.tar.xz ]] || tar -C "$(dirname "$folder")" -xf "$folder.tar.xz"
    exec python3 perf/device_steps.py --folder "$folder" "$@"
    ;;
  *)
    sed -n '5,13s/^# \{0,1\}//p' "$0"
    [[ ${1:-} == -h || ${1:-} == --help ]]
    ;;
esac
