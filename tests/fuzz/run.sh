#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs the fuzz targets under libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer, each for some seconds, and
# prints what was tried. Needs clang++, and a finished `./bootstrap build host fuzz_corpus`, which writes the seeds. What
# was found lies in build/fuzz/corpus/TARGET, an input with which a target fails in build/fuzz/failing-TARGET-*.
#
#   tests/fuzz/run.sh [SECONDS [TARGET...]]
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-60}
targets=("${@:2}")
kokkos=$(sed -n 's/^Kokkos_ROOT:[A-Z]*=//p' build/host/CMakeCache.txt)
cmake --preset fuzz "-DKokkos_ROOT=$kokkos" >build/fuzz.log
cmake --build build/fuzz -j "${ZYGOS_JOBS:-$(nproc)}" >>build/fuzz.log
build/host/tests/fuzz_corpus --write-seeds build/fuzz/corpus
if ((${#targets[@]} == 0)); then
  mapfile -t targets < <(cd build/fuzz/bin && ls -d fuzz_* | sed 's/^fuzz_//')
fi

status=0
printf '| target | executions | seconds | result |\n| --- | --- | --- | --- |\n'
for target in "${targets[@]}"; do
  log=build/fuzz/$target.log
  result=good
  TMPDIR=$([[ -w /dev/shm ]] && echo /dev/shm || echo /tmp) \
    build/fuzz/bin/fuzz_"$target" -max_total_time="$seconds" -max_len=32768 -timeout=10 -rss_limit_mb=2048 \
    -malloc_limit_mb=1024 -print_final_stats=1 -artifact_prefix="build/fuzz/failing-$target-" "build/fuzz/corpus/$target" \
    >"$log" 2>&1 || { result="failed, see $log"; status=1; }
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  printf '| %s | %s | %s | %s |\n' "$target" "${executions:-?}" "$seconds" "$result"
done
exit "$status"
