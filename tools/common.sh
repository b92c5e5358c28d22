# Functions that quickstart and the scripts beside it share. Sourced, after `set -euo pipefail`; expects $top, the
# repository.

export LC_ALL=C
build=${VMAFX_BUILD:-$top/build}
logs=$build/log

say() { printf '%s\n' "$*" >&2; }
die() { say "quickstart: $*"; exit 1; }

# -- Commands that take long -------------------------------------------------------------------------------------------

# Background commands lead process groups, so that Ctrl-C, SIGTERM and an error end each with all its processes.
declare -A leaders=()
ticker=

# in_group COMMAND…: starts it, and sets `leader`; `wait_for_group` waits for it.
in_group() {
  watch_signals
  set -m
  VMAFX_WITHIN=yes "$@" </dev/null &
  set +m
  leader=$!
  leaders[$leader]=running
}

# wait_for_group LEADER: waits for its end, and returns its exit status.
wait_for_group() {
  local status=0
  wait "$1" || status=$?
  unset "leaders[$1]"
  return $status
}

# end_groups SIGNAL: returns when their leaders have ended. apt-get takes its time, as packages must not stay half
# unpacked. A process that ignores SIGINT, as background processes of a shell do, then gets SIGTERM.
end_groups() {
  local leader
  for leader in "${!leaders[@]}"; do kill -s "$1" -- "-$leader" 2>/dev/null || true; done
  for leader in "${!leaders[@]}"; do
    wait "$leader" 2>/dev/null || true
    kill -- "-$leader" 2>/dev/null || true
  done
  leaders=()
}

watch_signals() {
  trap 'stopped INT 130 "stopped by Ctrl-C"' INT
  trap 'stopped TERM 143 "stopped by SIGTERM"' TERM
  trap 'stopped TERM 129 "stopped by SIGHUP"' HUP
  [ -n "$(trap -p EXIT)" ] || trap 'end_groups TERM' EXIT
}

# stopped SIGNAL STATUS TEXT: ends the script; a second signal ends it without waiting for what was started. A script
# started by another one leaves the text to that one.
stopped() {
  # shellcheck disable=SC2064
  trap "exit $2" INT TERM HUP
  stop_ticker
  end_groups "$1"
  [ -n "${VMAFX_WITHIN-}" ] || say "quickstart: $3"
  exit "$2"
}

# start_ticker LOG: shows the seconds so far and the last line of LOG until stop_ticker: on a terminal after ten
# seconds, in a line that is written over each second; elsewhere in a line for each minute.
start_ticker() {
  tick "$1" &
  ticker=$!
}
stop_ticker() {
  [ -n "$ticker" ] || return 0
  kill "$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  ticker=
  [ ! -t 2 ] || printf '\r\033[K' >&2
}
tick() {
  local log=$1 start=$SECONDS first=60 every=60 width=200 form='   %s\n'
  if [ -t 2 ]; then
    first=10 every=1 form='\r\033[K   %s'
    width=$(stty size <&2 2>/dev/null | sed 's/.* //')
    [ "${width:-0}" -gt 20 ] || width=80
  fi
  pause $first
  while kill -0 $$ 2>/dev/null; do
    # shellcheck disable=SC2059
    printf "$form" "$(printf '%s s: %s' $((SECONDS - start)) "$(last_line "$log")" | sed 's/: $//' | cut -c "-$((width - 4))")" >&2
    pause $every
  done
}

# pause SECONDS: waits without a process that could outlive this one.
pause() { read -rt "$1" <> <(:) || true; }

# last_line FILE: prints the last line as plain text.
last_line() { tail -c 2000 -- "$1" 2>/dev/null | tr '\r\t' '\n ' | tr -cd '\n\40-\176' | sed -n '/[^ ]/h; ${ x; p; }'; }

# step NAME TEXT COMMAND…: says TEXT, runs COMMAND with its output in build/log/NAME.log, and shows the end of that on
# failure. With `unwatched` set it belongs to a group itself: it runs in the background of a script that watches this
# group.
step() {
  local log=$logs/$1.log text=$2 start=$SECONDS status=0
  shift 2
  mkdir -p "$logs"
  say "-- $text"
  if [ -n "${unwatched-}" ]; then
    "$@" >"$log" 2>&1 </dev/null || status=$?
  else
    in_group "$@" >"$log" 2>&1
    start_ticker "$log"
    wait_for_group "$leader" || status=$?
    stop_ticker
  fi
  if [ "$status" != 0 ]; then
    tail -n 25 "$log" >&2
    die "$(full_disk "$log")failed (exit status $status): $text; the whole output is in $log"
  fi
  [ $((SECONDS - start)) -lt 5 ] || say "   $((SECONDS - start)) s"
}

# full_disk LOG: prints which disk was full, if one was. It may have been the log's own, so that the log does not say
# so.
full_disk() {
  local free place
  read -r free place < <(df -k --output=avail,target -- "$logs" /var/cache/apt/archives /usr "${TMPDIR:-/tmp}" /var/tmp 2>/dev/null | sort -n | sed -n '/[0-9]/{ p; q; }')
  if grep -qsE "No space left on device|have enough free space|Disk quota exceeded" "$1" || [ "${free:-9999}" -lt 1024 ]; then
    echo "the disk is full: $((${free:-0} / 1024)) MB free in ${place:-$logs}; make room and call this again. It "
  fi
}

# ----------------------------------------------------------------------------------------------------------------------

# checksum FILE…: prints one number for the contents and names of all of them.
checksum() { sha256sum -- "$@" | sha256sum | cut -c1-16; }

# fresh STAMP KEY: returns whether the file STAMP holds exactly KEY.
fresh() { [ -e "$1" ] && [ "$(cat "$1")" = "$2" ]; }

jobs() { nproc; }

# wrapper KIND SED…: prints the script tools/ffmpeg.in with its parts for KIND (prefix, bundle or package), its @NAMES@
# replaced by sed.
wrapper() {
  local kind=$1
  shift
  awk -v kind="$kind" '/^#if / { skip = !index($0 " ", " " kind " "); next } /^#endif$/ { skip = 0; next } !skip' "$top/tools/ffmpeg.in" | sed "$@"
}

# Prints tools/filter-libraries without comments: lines "NAME PACKAGE".
filter_libraries() { sed '/^#/d' "$top/tools/filter-libraries"; }

# codec_flags NAME…: prints FFmpeg's flags for libraries, which are named as Debian names their sources.
codec_flags() {
  local name
  for name; do
    case $name in
      svt-av1) echo --enable-libsvtav1 ;;
      zlib | lib*) echo "--enable-$name" ;;
      *) echo "--enable-lib$name" ;;
    esac
  done
}

# Prints how the installed ffmpeg was configured.
ffmpeg_configuration() { /usr/bin/ffmpeg -version | sed -n 's/^configuration: //p'; }

# filter_packages [CONFIGURATION]: prints the packages behind the filters of an ffmpeg, by default the installed one.
filter_packages() {
  local configuration name package
  configuration=" ${1-$(ffmpeg_configuration)} "
  while read -r name package; do
    case $name in
      '('*) echo "$package" ;;
      *) case $configuration in *" --enable-$name "*) echo "$package" ;; esac ;;
    esac
  done < <(filter_libraries)
}

# Prints the installed packages, between spaces.
installed_packages() { echo " $(dpkg-query -W -f '${db:Status-Status}=${Package}\n' 2>/dev/null | sed -n 's/^installed=//p' | tr '\n' ' ') "; }

# Prints the version of vmafx.
own_version() { sed -n 's/^AC_INIT(\[vmafx\], \[\([0-9.]*\)\].*/\1/p' "$top/configure.ac"; }

# build_time: prints the time of all files that are packed: the commit's, unless SOURCE_DATE_EPOCH is set.
build_time() { echo "${SOURCE_DATE_EPOCH:-$(git -C "$top" log -1 --format=%ct 2>/dev/null || echo 946684800)}"; }

# remove_at_end FILE: removes FILE when this process ends, also by a signal.
remove_at_end() {
  unfinished=$1
  trap 'rm -f "$unfinished"' EXIT
  trap 'exit 143' INT TERM HUP
}

# begin_part FILE: makes a file beside FILE, with a name that none has, and sets part to it. Nothing half-written stays:
# `step` runs what calls this in a process of its own, whose end removes it.
begin_part() {
  part=$(mktemp "$1.XXXXXX.part")
  remove_at_end "$part"
}

# end_part FILE: the whole part becomes FILE, with the rights of a new file.
end_part() { chmod "$(printf %o $((0666 & ~$(umask))))" "$part" && mv -T "$part" "$1"; }

# pack_alike FOLDER NAME FILE XZ-OPTIONS: packs NAME of a folder. The same files make the same bytes: in order, with one
# time for all, without users.
pack_alike() {
  begin_part "$3"
  tar -C "$1" --sort=name --mtime="@$(build_time)" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+w \
    -c -I "xz $4" -f "$part" "$2" &&
    end_part "$3"
}

# Prints the AMD architectures whose kernels were built, as configure takes them; nothing without kernels.
built_archs() { concatenate "$build/configured-for" | sed -nE 's/.*--with-hip-archs=([^ ]*).*/\1/p'; }

# copy_module FOLDER: copies the Python module, which has the command vmafx in it.
copy_module() {
  mkdir -p "$1"
  cp -rL "$top/python/vmafx" "$1/"
  find "$1" -name __pycache__ -prune -exec rm -r {} +
}

# Prints the files that exist, one after the other.
concatenate() { cat -- "$@" 2>/dev/null || true; }

# Prints this machine's release of Debian: bookworm.
debian_suite() { (. /etc/os-release && echo "${VERSION_CODENAME-}"); }

# Prints the mirror of this machine's own Debian packages.
debian_mirror() {
  concatenate /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources |
    sed -nE '/^#/d; s,.*[[:space:]](https?://[^[:space:]]*/debian)/?([[:space:]].*)?$,\1,p' | head -n 1
}
