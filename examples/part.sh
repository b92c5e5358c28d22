#!/bin/sh
# part.sh I N SECONDS DISTORTED REFERENCE: scores part I of N, counted from 0, of SECONDS each, into partI.json.
#
# The last part goes on to the end of the stream. `vmafx merge part*.json -o scores.json` joins all parts to the report
# of the whole stream.
set -eu

i=$1 n=$2 seconds=$3 dist=$4 ref=$5
begin=$((i * seconds))
end=$((begin + seconds))s
seek=$((begin > 2 ? begin - 2 : 0)) # the filter wants to see the pairs before the range
begin=${begin}s
[ "$i" -gt 0 ] || begin=
[ "$i" -lt $((n - 1)) ] || end=

exec "${FFMPEG:-ffmpeg}" -nostdin -v error -copyts -ss "$seek" -i "$dist" -ss "$seek" -i "$ref" -lavfi "vmafx=range=$begin-$end:n_threads=1:log_path=part$i.json" -f null -
