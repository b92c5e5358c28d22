# Functions that build vmafx and FFmpeg for Linux of any age in build/portable, for another processor in
# build/portable-NAME. Sourced, after tools/common.sh. VMAFX_PORTABLE_MACHINE names the processor: x86_64 (default) or
# aarch64.
#
# zig compiles all of it: clang with the symbols of an old glibc, and with libc++, which it links statically. The
# programs need glibc alone. GPU drivers are the host's, which the library loads when it is used.

portable_machine=${VMAFX_PORTABLE_MACHINE:-x86_64}
work=$build/portable
binutils=
if [ "$portable_machine" != x86_64 ]; then
  work=$build/portable-$portable_machine
  binutils=$portable_machine-linux-gnu-
fi
strip=${binutils}strip
tree=$work/build
libraries=$work/libraries
oldest_glibc=2.28 # RHEL 8's; what PyPI calls manylinux_2_28
zig_target=$portable_machine-linux-gnu.$oldest_glibc
codecs="zlib dav1d x264"
[ "$portable_machine" != x86_64 ] || [ "${VMAFX_PORTABLE_FFMPEG-}" = small ] || codecs+=" x265 svt-av1 libvpx zimg opus"
system="glibc $oldest_glibc or later on Linux"
wheel_platform=manylinux_${oldest_glibc/./_}_$portable_machine
. "$top/tools/packing.sh"

# obstacle: prints why programs for old Linux cannot be compiled here; nothing if they can.
obstacle() {
  [ "$(uname -m)" = x86_64 ] || { echo "this machine is not an x86-64" && return; }
  case $portable_machine in
    x86_64) command -v nasm >/dev/null || { echo "nasm is not installed" && return; } ;;
    aarch64) command -v ${binutils}gcc >/dev/null || { echo "gcc-aarch64-linux-gnu is not installed" && return; } ;;
    *) echo "there are no programs for $portable_machine, only for x86_64 and aarch64" && return ;;
  esac
  python3 -c 'import ensurepip, venv' 2>/dev/null || echo "python3-venv is not installed"
}

# use_tools: sets what the builds below call. Texts of asserts have names of files, which must not tell the folder.
use_tools() {
  local flags=(-target $zig_target -g0 -fomit-frame-pointer -fno-sanitize=undefined "-ffile-prefix-map=$top=.")
  zig=$(echo "$python"/lib/python3*/site-packages/ziglang)
  add_tool zig-cc "$zig/zig" cc "${flags[@]}"
  add_tool zig-c++ "$zig/zig" c++ "${flags[@]}"
  add_tool zig-ar "$zig/zig" ar
  add_tool zig-ranlib "$zig/zig" ranlib
  export CC=$work/bin/zig-cc CXX=$work/bin/zig-c++ AR=$work/bin/zig-ar RANLIB=$work/bin/zig-ranlib
  export PATH=$work/bin:$python/bin:$PATH
}

# -- The library -------------------------------------------------------------------------------------------------------

build_libraries() { "$top/tools/portable-libraries" "$libraries"; }
build_codecs() { "$top/tools/portable-libraries" "$libraries" $codecs; }

# configure_library: $device_flags says which kernels are compiled (default: none).
configure_library() {
  local flags="${device_flags:---without-hip} --disable-rpath"
  [ -z "$binutils" ] || flags+=" --host=${binutils%-}"
  ! fresh "$tree/configured-for" "$flags" || return 0
  empty_tree
  # Of a library that is unloaded, zig's start code leaves the handlers of exit() behind: it stays loaded (nodelete).
  # zig's library for arithmetic with 128 bits also has an exp() and a log10(), which round otherwise than glibc's; gcc's
  # has none.
  # shellcheck disable=SC2086
  PKG_CONFIG_LIBDIR=$libraries/pkgconfig "$top/configure" -q $flags --without-emulator --enable-precompiled-headers \
    CFLAGS=-O2 CXXFLAGS=-O2 LIBS="-lm $(${binutils}gcc -print-libgcc-file-name)" LDFLAGS=-Wl,-z,nodelete,-z,defs
  echo "$flags" >configured-for
}

# compile_library: clang takes a precompiled header by its file. In a folder of them, as gcc has it, clang wants one of
# exactly the same macros. It refuses one whose own headers have other times, though zig keeps what it has compiled for
# headers of the same bytes, which pip may have installed again: the times are left out.
compile_library() {
  local header=standard/standard.h.gch/library
  [ "$tree/$header" -nt "$python.key" ] || rm -f "$tree/$header"
  make -C "$tree" $header CXXFLAGS="-O2 -Xclang -fno-pch-timestamp"
  make -C "$tree" -j"$(jobs)" "$@" standard_headers="-Xclang -include-pch -Xclang $header" libvmafx.la \
    compat/libvmaf/libvmaf.la
}

compile_selftest() {
  make -C "$tree" -j"$(jobs)" standard_headers= tests/kernels/parity_test bench/device
  zig-cc -O2 -o "$work/make_clip" "$top/tests/golden/make_clip.c"
}

# -- FFmpeg ------------------------------------------------------------------------------------------------------------

# write_vmafx_pc: has pkg-config find the library that was built here.
write_vmafx_pc() {
  mkdir -p "$work/pkgconfig"
  cat >"$work/pkgconfig/vmafx.pc" <<PC
Name: vmafx
Description: as built here
Version: $(own_version)
Libs: -L$tree/.libs -lvmafx
Cflags: -I$top/include
PC
}

# ffmpeg_parts: prints FFmpeg's flags for what its programs have: everything that reads, and what writes the files that
# the command and tests of encodes need. VMAFX_PORTABLE_FFMPEG=small is for tests: it takes a quarter of the time.
encoders=libx264,libx265,libsvtav1,libvpx_vp9,ffv1,huffyuv,ffvhuff,utvideo,rawvideo,wrapped_avframe,png,mjpeg,apng
encoders+=,pcm_*,flac,aac,libopus,srt,subrip,ass,movtext,webvtt
muxers=matroska,webm,mov,mp4,avi,flv,nut,ivf,mpegts,yuv4mpegpipe,rawvideo,null,hash,framehash,framemd5,framecrc,md5
muxers+=,streamhash,image2,image2pipe,ffmetadata,segment,h264,hevc,vvc,obu,wav,pcm_*,opus,ogg,srt,ass,webvtt,tee,fifo
muxers+=,data
ffmpeg_parts() {
  if [ "${VMAFX_PORTABLE_FFMPEG-}" != small ]; then
    printf '%s\n' --disable-encoders --enable-encoder=$encoders --disable-muxers --enable-muxer=$muxers
  else
    printf '%s\n' --disable-everything --enable-protocol=file,pipe,fd --enable-indev=lavfi --enable-muxer=$muxers \
      --enable-encoder=libx264,ffv1,rawvideo,wrapped_avframe,png,mjpeg,pcm_s16le,aac,movtext,webvtt \
      --enable-parsers --enable-bsfs \
      --enable-demuxer=matroska,mov,avi,nut,rawvideo,yuv4mpegpipe,mpegts,h264,hevc,obu,ivf,image2,concat \
      --enable-demuxer=ffmetadata,wav \
      --enable-decoder=h264,hevc,vp9,libdav1d,ffv1,rawvideo,wrapped_avframe,mpeg2video,mjpeg,png,aac,pcm_s16le \
      --enable-filter=vmafx,libvmaf,xpsnr,scale,format,null,testsrc2,noise,color,split,trim,setpts,settb,fps,crop,pad \
      --enable-filter=select,idet,bwdif,setparams,setfield,metadata,showinfo,copy,transpose,hflip,vflip,setsar,tpad \
      --enable-filter=aresample,anull,atrim,aformat,signalstats,cropdetect,extractplanes,framestep
  fi
}

# configure_ffmpeg: FFmpeg repeats these flags in its programs, which therefore name no folder. In a folder that was
# configured before, its configure calls the sources by another name, which asserts repeat.
configure_ffmpeg() {
  local folder=$work/ffmpeg key parts cross=()
  [ -z "$binutils" ] || cross=(--enable-cross-compile --target-os=linux --arch="$portable_machine" --pkg-config=pkg-config)
  # shellcheck disable=SC2086
  mapfile -t parts < <(codec_flags $codecs && ffmpeg_parts)
  key="$(cat "$work/ffmpeg-source/RELEASE") $zig_target ${parts[*]} $(checksum "$libraries/built")"
  ! fresh "$folder/configure.key" "$key" || return 0
  rm -rf "$folder"
  mkdir -p "$folder"
  cd "$folder"
  write_vmafx_pc
  PKG_CONFIG_LIBDIR=$work/pkgconfig:$libraries/pkgconfig ../ffmpeg-source/configure \
    --cc=zig-cc --cxx=zig-c++ --ar=zig-ar --ranlib=zig-ranlib --pkg-config-flags=--static --enable-pic --enable-gpl \
    --enable-version3 --enable-libvmafx --disable-autodetect --disable-doc --disable-debug \
    --disable-ffplay --disable-stripping "${cross[@]}" "${parts[@]}"
  check_ffmpeg_parts "${parts[@]}"
  sed -i 's/^#define HAVE_SYSCTL 1/#define HAVE_SYSCTL 0/' config.h # an old glibc has the function, zig not its header
  echo "$key" >configure.key
}

compile_ffmpeg() { make -C "$work/ffmpeg" -j"$(jobs)" ffmpeg ffprobe; }

# -- What the bundle and the wheel have --------------------------------------------------------------------------------

# fill_prefix FOLDER: programs, libraries and documents of what is in them.
fill_prefix() {
  local prefix=$1 doc=$1/share/doc/vmafx
  mkdir -p "$prefix/bin" "$prefix/lib/vmafx/libvmaf" "$doc"
  cp "$work/ffmpeg/ffmpeg" "$work/ffmpeg/ffprobe" "$prefix/bin/"
  cp -L "$tree/.libs/libvmafx.so.0" "$prefix/lib/"
  cp -L "$tree/compat/libvmaf/.libs/libvmaf.so.3" "$prefix/lib/vmafx/libvmaf/"
  patchelf --set-rpath '$ORIGIN/../lib' "$prefix"/bin/*
  patchelf --remove-rpath "$prefix/lib/libvmafx.so.0"
  patchelf --set-rpath '$ORIGIN/../..' "$prefix/lib/vmafx/libvmaf/libvmaf.so.3"
  $strip --strip-unneeded "$prefix"/bin/* "$prefix/lib/libvmafx.so.0" "$prefix/lib/vmafx/libvmaf/libvmaf.so.3"
  add_selftest "$prefix"
  check_symbols "$prefix"
  pack_programs "$prefix/lib/vmafx/selftest"
  list_components "$doc"
  cp "$zig/lib/libcxx/LICENSE.TXT" "$doc/licenses/libc++"
}

# newest_symbols FILE…: prints each file with the newest version of glibc that its symbols ask for.
newest_symbols() {
  local file
  for file; do
    echo "${file##*/} $(${binutils}objdump -T "$file" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | sed -n '$s/GLIBC_//p')"
  done
}

binaries() {
  find "$1" -type f '(' -path '*/bin/ff*' -o -name '*.so.[0-9]*' -o -path '*/selftest/*' ! -name '*.*' ! -name device_code ')' | sort
}

# check_symbols FOLDER: fails if a program or library needs a newer glibc, or another library than glibc and ours.
check_symbols() {
  local files name version others
  mapfile -t files < <(binaries "$1")
  while read -r name version; do
    [ "$(printf '%s\n' "$version" $oldest_glibc | sort -V | tail -n 1)" = $oldest_glibc ] ||
      die "$name needs glibc $version, not $oldest_glibc"
  done < <(newest_symbols "${files[@]}")
  others=$(${binutils}objdump -p "${files[@]}" | sed -n 's/^ *NEEDED *//p' | sort -u |
    grep -vE '^(lib(c|m|dl|rt|pthread)\.so\.[0-9]|ld-linux-(x86-64\.so\.2|aarch64\.so\.1)|libvmafx\.so\.0)$' || true)
  [ -z "$others" ] || die "a program needs $others"
  ${binutils}objdump -T "$1/lib/libvmafx.so.0" | grep ' exp$' >/dev/null || die "libvmafx.so.0 has an exp() of its own, not glibc's"
}

components() {
  local name
  echo "libgcc $(${binutils}gcc -dumpfullversion) GPL-3.0-or-later-WITH-GCC-exception-3.1 https://ftp.gnu.org/gnu/gcc/"
  name=$("$zig/zig" version)
  echo "libc++ zig-$name Apache-2.0-WITH-LLVM-exception https://ziglang.org/download/$name/"
}
