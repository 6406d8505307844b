#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs the fuzz targets under libFuzzer, each for some seconds or for a number of executions, and prints what was tried.
# Needs Clang 15 or later (CXX, or the newest that is found), and a finished `./bootstrap build host fuzz_corpus`, which
# writes the seeds. With AddressSanitizer and UndefinedBehaviorSanitizer or, for many more executions a second, without
# them (--plain); what the latter finds belongs in a run of the former, which reads the same corpus.
#
#   tests/fuzz/run.sh [--plain] [--runs N] [SECONDS [TARGET...]]      with --runs, SECONDS is not looked at
#
# What was found lies in build/fuzz/corpus/TARGET, an input with which a target fails in build/fuzz/failing-TARGET-*.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=build/fuzz
options=()
runs=
while [[ ${1-} == --* ]]; do
  case $1 in
    --plain)
      build=build/fuzz_plain
      options=(-DZYGOS_SANITIZE=fuzzer-no-link "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -g1")
      ;;
    --runs)
      runs=${2:?--runs needs a number}
      shift
      ;;
    *)
      echo "there is no option '$1'; allowed are --plain and --runs N" >&2
      exit 1
      ;;
  esac
  shift
done
seconds=${1:-60}
if [[ -n $runs ]]; then limit=(-runs="$runs"); else limit=(-max_total_time="$seconds"); fi
targets=("${@:2}")
compiler=${CXX:-$(for name in clang++-{21..15} clang++; do command -v "$name" || true; done | head -n 1)}
[[ -n $compiler ]] || { echo "no Clang was found; Debian has it in clang-16 and libclang-rt-16-dev" >&2; exit 1; }
kokkos=$(sed -n 's/^Kokkos_ROOT:[A-Z]*=//p' build/host/CMakeCache.txt)
corpus=build/fuzz/corpus
mkdir -p "$build" "$corpus"
# No target links Kokkos, whose configuration asks for an OpenMP, which this Clang may lack.
cmake --preset fuzz -B "$build" "-DCMAKE_CXX_COMPILER=$compiler" "-DKokkos_ROOT=$kokkos" -DOpenMP_CXX_FLAGS=-pthread \
  -DOpenMP_CXX_LIB_NAMES=pthread -DOpenMP_pthread_LIBRARY=pthread ${options[@]+"${options[@]}"} >"$build.log"
cmake --build "$build" -j "${ZYGOS_JOBS:-$(nproc)}" >>"$build.log"
build/host/tests/fuzz_corpus --write-seeds "$corpus"
tar -xf tests/fuzz/found.tar.xz -C "$corpus"
if ((${#targets[@]} == 0)); then
  mapfile -t targets < <(cd "$build/bin" && ls -d fuzz_* | sed 's/^fuzz_//')
fi

symbolizer=$(ls -d "$(dirname "$(readlink -f "$compiler")")"/llvm-symbolizer /usr/lib/llvm-*/bin/llvm-symbolizer 2>/dev/null | head -n 1 || true)
status=0
printf '| target | executions | seconds | a second | result |\n| --- | --- | --- | --- | --- |\n'
for target in "${targets[@]}"; do
  log=$build/$target.log
  result=good
  longest=32768
  schedule=()
  # What is read line by line or word by word holds its every rule in little: longer inputs only take longer. It has many
  # inputs of its own coverage, and choosing among them by entropy takes as long as running them.
  case $target in
    csv | deck | metrics | text | trace)
      longest=4096
      schedule=(-entropic=0)
      ;;
  esac
  begin=$SECONDS
  ASAN_OPTIONS=allocator_may_return_null=1 ASAN_SYMBOLIZER_PATH=$symbolizer UBSAN_OPTIONS=print_stacktrace=1 \
    "$build/bin/fuzz_$target" "${limit[@]}" ${schedule[@]+"${schedule[@]}"} -max_len="$longest" -timeout=60 -rss_limit_mb=2048 \
    -malloc_limit_mb=1024 -print_final_stats=1 -artifact_prefix="build/fuzz/failing-$target-" "$corpus/$target" \
    >"$log" 2>&1 || { result="failed, see $log"; status=1; }
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
  rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log" | tail -n 1)
  printf '| %s | %s | %s | %s | %s |\n' "$target" "${executions:-?}" "$((SECONDS - begin))" "${rate:-?}" "$result"
done
exit "$status"
