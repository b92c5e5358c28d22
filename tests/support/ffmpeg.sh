# Functions for tests in bash that get sources of FFmpeg's releases, and make a small ffmpeg with the filter from one.
# Sourced; expects $top, $build and $logs (tools/common.sh), $work, the folder to work in, and for program() the array
# program_flags.
#
# The source of some releases comes from the source packages of Debian's suites. The source of any release can be given:
# VMAFX_FFMPEG_SOURCES is a folder (else ../ffmpeg-sources) with unpacked trees, ffmpeg-X.Y or ffmpeg-X.Y.Z, or tarballs
# that hold such folders. They may lack FFmpeg's own tests.

sources=${VMAFX_FFMPEG_SOURCES:-$top/../ffmpeg-sources}
declare -A suites=([5.1]=bookworm [7.1]=trixie [9.0]=sid,experimental)

# from_folder VERSION TREE: copies the source from the user's folder.
from_folder() {
  local found name=ffmpeg-$1 part=$2.part
  for found in "$sources/$name" "$sources/$name".*; do
    if [ -f "$found/RELEASE" ]; then
      ln -s "$(cd "$found" && pwd)" "$2"
      return
    fi
  done
  for found in "$sources"/*.tar.*; do
    [ -f "$found" ] || continue
    rm -rf "$part"
    mkdir "$part"
    tar -xf "$found" -C "$part" --wildcards "$name/*" "$name.*/*" 2>/dev/null || true # tar complains if one of the patterns matches nothing
    ! mv -T "$part"/* "$2" 2>/dev/null || break
  done
  rm -rf "$part"
  [ -d "$2" ]
}

# fetch VERSION: makes its folder `pristine`, unless it exists.
fetch() {
  local tree=$work/$1/pristine
  [ ! -f "$tree/RELEASE" ] || return 0
  mkdir -p "$work/$1" "$logs"
  rm -rf "$tree"
  ! from_folder "$1" "$tree" || return 0
  [ -n "${suites[$1]-}" ] || return 1
  "$top/tools/fetch-ffmpeg" --suite "${suites[$1]}" "$tree" >"$logs/fetch-$1.log" 2>&1
}

why_not_fetched() {
  echo "there is none in $sources"
  [ -z "${suites[$1]-}" ] || echo ", nor on the mirrors ($(tail -n 1 "$logs/fetch-$1.log"))"
}

release_is() { case $(cat "$work/$1/pristine/RELEASE") in "$1" | "$1".*) ;; *) return 1 ;; esac; }

# fetch_first VERSION…: sets `version` to the first of these whose source can be had.
fetch_first() {
  for version; do
    ! { fetch "$version" && release_is "$version"; } || return 0
  done
  return 1
}

# patched_source TREE VERSION…: makes TREE a source of the first of these releases that can be had, with the filter.
patched_source() {
  local tree=$1 version key
  shift
  fetch_first "$@" || die "cannot get the source of FFmpeg $*: $(why_not_fetched "${@: -1}" | tr -d '\n')"
  key="$version $(checksum "$top/patches/apply")"
  if ! fresh "$tree.key" "$key"; then
    rm -f "$tree.key"
    copy "$version" "$tree"
    echo "$key" >"$tree.key"
  fi
  "$top/patches/apply" "$tree"
}

# copy VERSION TREE: copies the source, with an empty file for each part of FFmpeg's own tests that the source lacks and
# the Makefile includes. Without the file VERSION, which a source out of git lacks, FFmpeg would take the version of the
# git tree around it, ours.
copy() {
  local part
  rm -rf "$2"
  mkdir -p "$2"
  cp -a "$work/$1/pristine/." "$2"
  [ -e "$2/VERSION" ] || cp "$2/RELEASE" "$2/VERSION"
  sed -n 's,^include $(SRC_PATH)/\(tests/fate/[^ ]*\.mak\).*,\1,p' "$2/tests/Makefile" | while read -r part; do
    mkdir -p "$2/tests/fate"
    [ -e "$2/$part" ] || : >"$2/$part"
  done
}

configure_in() {
  cd "$1"
  shift
  PKG_CONFIG_PATH=$build ./configure "$@"
}

# program VERSION NAME…: builds ffmpeg, ffprobe or both in a tree of its own, which is kept, so that only changes are
# compiled again.
program() {
  local version=$1 tree=$work/$1/program key
  shift
  key="${program_flags[*]} $(checksum "$work/$version/pristine/RELEASE" "$build/vmafx-uninstalled.pc" "$top/patches/apply")"
  if ! fresh "$work/$version/program.key" "$key"; then
    rm -rf "$work/$version/program.key" "$tree"
    copy "$version" "$tree"
    "$top/patches/apply" "$tree"
    (configure_in "$tree" "${program_flags[@]}")
    echo "$key" >"$work/$version/program.key"
  fi
  "$top/patches/apply" "$tree"
  make -C "$tree" -j"$(jobs)" "$@"
}
