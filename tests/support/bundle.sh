# Functions for tests of what is packed. Sourced; expects $top, $build (tools/common.sh) and $scratch.

# make_bundle FILE: makes a bundle without more kernels for GPUs than were built.
make_bundle() {
  HIP_ARCHS=$(built_archs) XZ_OPT="-0 --threads=0" "$top/quickstart" bundle "$1"
}

# Makes half a second of grain through x264: dis.mp4 and ref.mkv in FOLDER.
make_pair() {
  local encode="/usr/bin/ffmpeg -v error -nostdin -y"
  $encode -f lavfi -i testsrc2=s=320x240:d=0.5,noise=alls=12:allf=t,format=yuv420p -c:v ffv1 "$1/ref.mkv"
  $encode -i "$1/ref.mkv" -c:v libx264 -crf 34 "$1/dis.mp4"
}

# scored COMMAND…: prints what an ffmpeg says of the pair in the current folder, to the last digit.
scored() {
  "$@" -v error -nostdin -i dis.mp4 -i ref.mkv -lavfi vmafx=backend=cpu:score_fmt=%.17g:log_path=-:log_fmt=json -f null - | sed '/"fps"/d'
}

# copy_sources FOLDER: copies the sources, with what is not committed yet.
copy_sources() {
  git clone -q --shared "$top" "$1"
  git -C "$top" diff HEAD --binary | git -C "$1" apply --allow-empty --index
}

# from_copy FOLDER COMMAND…: has a copy of the sources build in its own folder, with the time and the FFmpeg of this one
# (tests/support/ffmpeg.sh).
from_copy() {
  SOURCE_DATE_EPOCH=$(build_time) VMAFX_FFMPEG_SOURCES=$sources VMAFX_BUILD=$1/build "${@:2}"
}
