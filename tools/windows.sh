# Functions that build vmafx and FFmpeg for Windows x86-64 in build/windows. Sourced, after tools/common.sh.
# VMAFX_WINDOWS_CODECS names the libraries of tools/windows-libraries that ffmpeg.exe is linked with (default: all).
# VMAFX_WINDOWS_FFMPEG=small is for tests: a small FFmpeg, by default without these libraries.
#
# clang compiles all of it, on mingw-w64's headers and libraries: gcc for Windows keeps vectors of 32 bytes on a stack
# that it aligns to 16.

work=$build/windows
tree=$work/build
libraries=$work/libraries
triplet=x86_64-w64-mingw32
wine=/usr/lib/wine/wine64
codecs="zlib dav1d x264 x265 svt-av1 libvpx zimg opus"
ffmpeg=$work/ffmpeg-whole
[ "${VMAFX_WINDOWS_FFMPEG-}" != small ] || { codecs="" && ffmpeg=$work/ffmpeg; }
codecs=${VMAFX_WINDOWS_CODECS-$codecs}
system=Windows
wheel_platform=win_amd64
link_flags=-Wl,--no-insert-timestamp # programs do not tell when they were linked
strip="$triplet-strip --preserve-dates" # else it writes its own time into them
. "$top/tools/packing.sh"

# obstacle: prints why programs for Windows cannot be compiled here; nothing if they can.
obstacle() {
  if ! command -v clang-19 >/dev/null; then echo "clang-19 is not installed"
  elif ! command -v $triplet-g++-posix >/dev/null; then echo "g++-mingw-w64-x86-64-posix is not installed"
  fi
}

# use_tools: sets what the builds below call. Texts of asserts have names of files, which must not tell the folder.
use_tools() {
  local flags=(--target=x86_64-w64-windows-gnu "-ffile-prefix-map=$top=.")
  add_tool windows-cc clang-19 "${flags[@]}"
  add_tool windows-c++ clang++-19 "${flags[@]}"
  export CC=$work/bin/windows-cc CXX=$work/bin/windows-c++
  export PATH=$work/bin:$PATH
}

build_libraries() { "$top/tools/windows-libraries" "$libraries"; }
build_codecs() { "$top/tools/windows-libraries" "$libraries" $codecs; }

# configure_library: $device_flags says which kernels are compiled (default: none). Tests of kernels name the emulator's
# folder, so that it is left out; tests/windows/run asks for it.
configure_library() {
  local flags="--without-emulator ${device_flags:---without-hip} CC=$CC CXX=$CXX LDFLAGS=$link_flags"
  ! fresh "$tree/configured-for" "$flags" || return 0
  empty_tree
  # shellcheck disable=SC2086
  PKG_CONFIG=pkg-config PKG_CONFIG_LIBDIR=$libraries/pkgconfig "$top/configure" -q $flags --host=$triplet \
    CFLAGS=-O2 CXXFLAGS=-O2
  echo "$flags" >configured-for
}

# compile_library [TARGET…]
compile_library() { make -C "$tree" -j"$(jobs)" "$@"; }

# dlls FILE…: prints the libraries that they need.
dlls() { $triplet-objdump -p "$@" | sed -n 's/^\tDLL Name: //p' | sort -fu; }

# Windows has these in every installation.
windows_dlls='advapi32|avicap32|bcrypt|crypt32|gdi32|kernel32|mfplat|msvcrt|ncrypt|ntdll|ole32|oleaut32|psapi|secur32'
windows_dlls+='|shell32|shlwapi|user32|uuid|vfw32|avifil32|ws2_32|strmiids'

# foreign_dlls FILE…: prints the libraries that they need, except for Windows' own and those that go with them.
foreign_dlls() { dlls "$@" | grep -viE "^(($windows_dlls)\.dll|libvmafx\.dll)$" || true; }

compile_selftest() {
  compile_library tests/kernels/parity_test.exe bench/device.exe
  windows-cc -O2 $link_flags -o "$work/make_clip.exe" "$top/tests/golden/make_clip.c"
}

# -- FFmpeg ------------------------------------------------------------------------------------------------------------

# write_vmafx_pc: has pkg-config find the library that was built here. A static link takes a DLL's import library only
# by its whole name.
write_vmafx_pc() {
  mkdir -p "$work/pkgconfig"
  cat >"$work/pkgconfig/vmafx.pc" <<PC
Name: vmafx
Description: as built here
Version: $(own_version)
Libs: -L$tree/.libs -l:libvmafx.dll.a
Cflags: -I$top/include
PC
}

# ffmpeg_parts: prints FFmpeg's flags for what its programs have: all of its own decoders, and Windows' decoders of GPUs
# and sockets; the small one has what scores raw files.
ffmpeg_parts() {
  if [ "${VMAFX_WINDOWS_FFMPEG-}" != small ]; then
    printf '%s\n' --enable-version3 --enable-d3d11va --enable-dxva2 --enable-schannel --enable-mediafoundation
  else
    printf '%s\n' --disable-everything --disable-network --enable-protocol=file,pipe --enable-indev=lavfi \
      --enable-filter=vmafx,libvmaf,scale,format,null,testsrc2,split --enable-muxer=null --enable-demuxer=rawvideo \
      --enable-encoder=wrapped_avframe --enable-decoder=rawvideo,wrapped_avframe
  fi
}

# configure_ffmpeg: FFmpeg repeats these flags in its programs, which therefore name no folder.
configure_ffmpeg() {
  local parts key
  # shellcheck disable=SC2086
  mapfile -t parts < <(codec_flags $codecs && ffmpeg_parts)
  key="${parts[*]} $(checksum "$work/ffmpeg-source/RELEASE" "$top/tools/windows.sh")"
  ! fresh "$ffmpeg/configure.key" "$key" || return 0
  rm -rf "$ffmpeg"
  mkdir -p "$ffmpeg"
  cd "$ffmpeg"
  write_vmafx_pc
  PKG_CONFIG_LIBDIR=$work/pkgconfig:$libraries/pkgconfig ../ffmpeg-source/configure --enable-cross-compile \
    --target-os=mingw64 --arch=x86_64 --cross-prefix=$triplet- --cc=windows-cc --cxx=windows-c++ \
    --pkg-config=pkg-config --pkg-config-flags=--static --extra-ldflags="-static $link_flags" \
    --enable-gpl --enable-libvmafx --disable-doc --disable-debug --disable-stripping --disable-ffplay \
    --disable-autodetect --enable-w32threads "${parts[@]}"
  check_ffmpeg_parts "${parts[@]}"
  echo "$key" >configure.key
}

# compile_ffmpeg: FFmpeg's makefiles do not know our DLL, of which programs have the order of its functions.
compile_ffmpeg() {
  [ ! "$tree/.libs/libvmafx.dll.a" -nt "$ffmpeg/ffmpeg.exe" ] || rm -f "$ffmpeg"/ff*.exe
  make -C "$ffmpeg" -j"$(jobs)" ffmpeg.exe ffprobe.exe
}

# -- What the zip and the wheel have -----------------------------------------------------------------------------------

# fill_prefix FOLDER [DOC]: programs and their DLL beside them, the self-test, and documents of what is in them, in a
# folder DOC. None needs a DLL that is not Windows' own.
fill_prefix() {
  local others
  mkdir -p "$1/bin"
  cp "$ffmpeg/ffmpeg.exe" "$ffmpeg/ffprobe.exe" "$tree/.libs/libvmafx.dll" \
    "$tree/compat/libvmaf/.libs/libvmaf-3.dll" "$1/bin/"
  $strip "$1"/bin/*
  add_selftest "$1" .exe
  others=$(foreign_dlls "$1"/bin/* "$1"/lib/vmafx/selftest/*.exe | tr '\n' ' ')
  [ -z "$others" ] || die "a program needs a DLL that is not Windows' own: $others"
  pack_programs "$1/lib/vmafx/selftest" .exe
  list_components "$1/${2-share/doc/vmafx}"
}

components() {
  local number
  echo "mingw-w64 $(dpkg-query -W -f '${Version}' mingw-w64-common) ZPL-2.1 https://snapshot.debian.org/package/mingw-w64/"
  number=$($triplet-g++-posix -dumpfullversion)
  echo "libstdc++ $number GPL-3.0-or-later-WITH-GCC-exception-3.1 https://snapshot.debian.org/package/gcc-mingw-w64/"
  echo "libgcc $number GPL-3.0-or-later-WITH-GCC-exception-3.1 https://snapshot.debian.org/package/gcc-mingw-w64/"
}
