# What quickstart and the scripts beside it share. Sourced, after `set -euo pipefail`; expects $top, the repository.

export LC_ALL=C
build=${VMAFX_BUILD:-$top/build}
logs=$build/log

say() { printf '%s\n' "$*" >&2; }
die() { say "quickstart: $*"; exit 1; }

# step NAME TEXT COMMAND…: says TEXT, runs COMMAND with its output in build/log/NAME.log; shows the end of that on failure.
step() {
  local log=$logs/$1.log text=$2 start=$SECONDS status=0
  shift 2
  mkdir -p "$logs"
  say "-- $text"
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if [ "$status" != 0 ]; then
    tail -n 25 "$log" >&2
    die "failed (exit status $status): $text; the whole output is in $log"
  fi
  [ $((SECONDS - start)) -lt 5 ] || say "   $((SECONDS - start)) s"
}

# checksum FILE…: one number for the contents and names of all of them.
checksum() { sha256sum -- "$@" | sha256sum | cut -c1-16; }

# True when the file STAMP holds exactly KEY.
fresh() { [ -e "$1" ] && [ "$(cat "$1")" = "$2" ]; }

jobs() { nproc; }

# wrapper KIND SED…: the script tools/ffmpeg.in with its parts for KIND (prefix, bundle or package), its @NAMES@ replaced by sed.
wrapper() {
  local kind=$1
  shift
  awk -v kind="$kind" '/^#if / { skip = !index($0 " ", " " kind " "); next } /^#endif$/ { skip = 0; next } !skip' "$top/tools/ffmpeg.in" | sed "$@"
}

# Packages behind the filters of the installed ffmpeg (tools/filter-libraries).
filter_packages() {
  local configuration name package
  configuration=" $(/usr/bin/ffmpeg -version | sed -n 's/^configuration: //p') "
  while read -r name package; do
    case $name in
      '#'*) ;;
      '('*) echo "$package" ;;
      *) case $configuration in *" --enable-$name "*) echo "$package" ;; esac ;;
    esac
  done <"$top/tools/filter-libraries"
}

# The version of vmafx.
own_version() { sed -n 's/^AC_INIT(\[vmafx\], \[\([0-9.]*\)\].*/\1/p' "$top/configure.ac"; }

# The AMD architectures whose kernels were built, as configure takes them; nothing without kernels.
built_archs() { concatenate "$build/configured-for" | sed -nE 's/.*--with-hip-archs=([^ ]*).*/\1/p'; }

# copy_module FOLDER: the Python module, which has the command vmafx in it.
copy_module() {
  mkdir -p "$1"
  cp -rL "$top/python/vmafx" "$1/"
  find "$1" -name __pycache__ -prune -exec rm -r {} +
}

# The files that exist, one after the other.
concatenate() { cat -- "$@" 2>/dev/null || true; }

# The release of Debian that this machine is: bookworm.
debian_suite() { (. /etc/os-release && echo "${VERSION_CODENAME-}"); }

# The mirror that the machine's own Debian packages come from.
debian_mirror() {
  concatenate /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources |
    sed -nE '/^#/d; s,.*[[:space:]](https?://[^[:space:]]*/debian)/?([[:space:]].*)?$,\1,p' | head -n 1
}
