# Functions that build vmafx and FFmpeg for Windows x86-64 in build/windows. Sourced, after tools/common.sh.
#
# clang compiles all of it, on mingw-w64's headers and libraries: gcc for Windows keeps vectors of 32 bytes on a stack
# that it aligns to 16.

work=$build/windows
tree=$work/build
libraries=$work/libraries
triplet=x86_64-w64-mingw32
clang=clang-19 clangxx=clang++-19 target=--target=x86_64-w64-windows-gnu
wine=/usr/lib/wine/wine64
codecs="zlib dav1d x264 x265 svt-av1 libvpx zimg"

# obstacle: prints why programs for Windows cannot be compiled here; nothing if they can.
obstacle() {
  if ! command -v $clang >/dev/null; then echo "clang-19 is not installed"
  elif ! command -v $triplet-g++-posix >/dev/null; then echo "g++-mingw-w64-x86-64-posix is not installed"
  fi
}

build_libraries() { "$top/tools/windows-libraries" "$libraries"; }

configure_library() {
  mkdir -p "$tree"
  cd "$tree"
  [ ! -f Makefile ] || return 0
  PKG_CONFIG=pkg-config PKG_CONFIG_LIBDIR=$libraries/pkgconfig "$top/configure" -q --host=$triplet --without-hip \
    --without-emulator CC="$clang $target" CXX="$clangxx $target" CFLAGS=-O2 CXXFLAGS=-O2
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

# configure_ffmpeg SOURCE FOLDER FLAG…: configures a patched source of FFmpeg.
configure_ffmpeg() {
  local source=$1 folder=$2 key
  shift 2
  key="$source $* $(checksum "$top/tools/windows.sh")"
  ! fresh "$folder/configure.key" "$key" || return 0
  rm -rf "$folder"
  mkdir -p "$folder"
  cd "$folder"
  write_vmafx_pc
  PKG_CONFIG_LIBDIR=$work/pkgconfig:$libraries/pkgconfig "$source/configure" --enable-cross-compile \
    --target-os=mingw64 --arch=x86_64 --cross-prefix=$triplet- --cc="$clang $target" --cxx="$clangxx $target" \
    --pkg-config=pkg-config --pkg-config-flags=--static --extra-ldflags=-static --enable-gpl --enable-libvmafx \
    --disable-doc --disable-debug --disable-ffplay --disable-autodetect --enable-w32threads "$@"
  echo "$key" >configure.key
}
