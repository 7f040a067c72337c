#!/usr/bin/env bash
# A campaign in shards under GNU parallel: on this machine, or on several with --sshlogin (the same program on each).
#
#   Docs/soak-examples/parallel.sh '0..<100000' 8 results [options of GNU parallel …]
#
# Each shard is one process with one job. A shard that failed is found in its result; merge says so too.
set -euo pipefail
seeds=$1
shards=$2
folder=$3
shift 3
lab=${WATCHFERRY_LAB:-transfer-lab}
mkdir -p "$folder"
# A shard that was violated ends with 1 and has a result all the same, so parallel's own code says nothing; merge's does.
seq "$shards" | parallel --jobs 100% "$@" \
  "$lab" soak --seeds "'$seeds'" --shard "{}/$shards" --jobs 1 --result "$folder/{}.json" '>' "$folder/{}.txt" '2>&1' || true
exec "$lab" merge --junit "$folder/junit.xml" "$folder"/*.json
