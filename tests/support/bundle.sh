# Functions for tests of the bundle. Sourced; expects $top, $build (tools/common.sh) and $scratch.

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
