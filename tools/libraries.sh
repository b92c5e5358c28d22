# Functions that build libraries from Debian's sources for other systems: tools/windows-libraries and
# tools/portable-libraries. Sourced, after tools/common.sh; expects $out, the folder that they are installed in, with
# their licenses in $out/licenses, a call of begin_sources, and a function build_NAME for each of them.

# begin_sources NAME [FLAG…]: makes the folder of the sources, which is removed at the end, and sets the flags of compilers.
# Paths in messages of asserts would tell the folder.
begin_sources() {
  sources=$(mktemp -d -p /var/tmp "vmafx-$1-XXXXXX")
  trap 'rm -rf "$sources"' EXIT
  own_level="${*:2} -ffile-prefix-map=$sources=." # for what brings a level of optimization, and takes the last one
  export CFLAGS="-O2 $own_level" CXXFLAGS="-O2 $own_level"
}

make_apt() {
  local key=/usr/share/keyrings/debian-archive-keyring.gpg
  mkdir -p "$sources"/apt/{lists,cache/archives}/partial
  echo "deb-src [check-valid-until=no signed-by=$key] $(debian_mirror) $(debian_suite) main" >"$sources/apt/sources.list"
  cat >"$sources/apt.conf" <<CONF
APT::Sandbox::User "";
Dir::Etc::SourceList "$sources/apt/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$sources/apt/lists";
Dir::Cache "$sources/apt/cache";
Acquire::Languages "none";
CONF
  export APT_CONFIG=$sources/apt.conf
  apt-get update -q
}

# source_of NAME: prints the folder of Debian's source, which it fetches.
source_of() {
  mkdir -p "$sources/$1"
  (cd "$sources/$1" && apt-get source -q "$1" >&2)
  find "$sources/$1" -mindepth 1 -maxdepth 1 -type d
}

# pkg_config NAME VERSION LIBRARIES [FLAGS]
pkg_config() {
  printf 'Name: %s\nDescription: built for another system\nVersion: %s\nLibs: -L%s/lib %s\nCflags: -I%s/include %s\n' \
    "$1" "$2" "$out" "$3" "$out" "${4-}" >"$out/pkgconfig/$1.pc"
}

# take_pkg_config NAME: moves what a library's own build has installed for pkg-config to where the others are.
take_pkg_config() { mv "$out/lib/pkgconfig/$1.pc" "$out/pkgconfig/"; }

# compile_highway COMPILER AR: Highway's part that vmafx links: the choice of the instruction set, and what prints its
# name.
compile_highway() {
  local name
  for name in aligned_allocator per_target print targets; do
    $1 -std=c++17 -O2 -fPIC -DHWY_STATIC_DEFINE -I. -c "hwy/$name.cc" -o "$name.o"
  done
  rm -f "$out/lib/libhwy.a"
  $2 rcs "$out/lib/libhwy.a" ./*.o
  mkdir -p "$out/include/hwy"
  cp hwy/*.h "$out/include/hwy/"
  cp -r hwy/ops "$out/include/hwy/"
  pkg_config libhwy "$(sed -nE 's/^#define HWY_(MAJOR|MINOR|PATCH) //p' hwy/highway.h | paste -sd.)" \
    -lhwy -DHWY_STATIC_DEFINE
}

# compile_check FLAG…: Check without what its tests, its documents and other programs need.
compile_check() {
  ./configure -q --prefix="$out" --disable-shared --disable-subunit --disable-timeout-tests --disable-build-docs "$@"
  make -s -C lib -j"$(jobs)"
  make -s -C src -j"$(jobs)" libcheck.la
  cp src/.libs/libcheck.a "$out/lib/"
  cp src/check.h check_stdint.h "$out/include/"
}

# compile_zlib FLAG…
compile_zlib() {
  ./configure --static --prefix="$out" "$@"
  make libz.a
  cp libz.a "$out/lib/"
  cp zlib.h zconf.h "$out/include/"
  pkg_config zlib "$(sed -n 's/^#define ZLIB_VERSION "\(.*\)"/\1/p' zlib.h)" -lz
}

# compile_dav1d FILE: FILE tells meson what it builds for.
compile_dav1d() {
  CFLAGS=$own_level meson setup cross --cross-file="$1" --prefix="$out" --libdir=lib --buildtype=release \
    --default-library=static -Denable_tools=false -Denable_tests=false
  ninja -C cross -j"$(jobs)" install
  take_pkg_config dav1d
}

# compile_x264 FLAG…
compile_x264() {
  CFLAGS=$own_level ./configure --prefix="$out" --enable-static --disable-cli --disable-opencl "$@"
  make -j"$(jobs)" install-lib-static
  take_pkg_config x264
}

# compile_x265 AR LIBRARIES CMAKE_FLAG…: x265 has a library for each depth of samples; the one of 8 bits brings that
# of 10 along. LIBRARIES are those of C++.
compile_x265() {
  local ar=$1 libraries=$2 flags=("${@:3}" -DENABLE_SHARED=OFF -DENABLE_CLI=OFF -DENABLE_LIBNUMA=OFF)
  cmake -S source -B deep "${flags[@]}" -DHIGH_BIT_DEPTH=ON -DEXPORT_C_API=OFF
  ninja -C deep -j"$(jobs)"
  cp deep/libx265.a libx265_deep.a
  cmake -S source -B cross "${flags[@]}" -DEXTRA_LIB="$PWD/libx265_deep.a" -DLINKED_10BIT=ON
  ninja -C cross -j"$(jobs)" install
  printf 'create %s\naddlib %s\naddlib %s\nsave\nend\n' whole.a cross/libx265.a libx265_deep.a | $ar -M
  cp whole.a "$out/lib/libx265.a"
  pkg_config x265 "$(sed -n 's/^Version: //p' "$out/lib/pkgconfig/x265.pc")" "-lx265 $libraries"
}

# compile_svt_av1 CMAKE_FLAG…
compile_svt_av1() {
  cmake -S . -B cross "$@" -DBUILD_SHARED_LIBS=OFF -DBUILD_APPS=OFF -DBUILD_DEC=OFF -DREPRODUCIBLE_BUILDS=ON
  ninja -C cross -j"$(jobs)" install
  take_pkg_config SvtAv1Enc
}

# compile_libvpx FLAG…: the library repeats these, so that none names the folder.
compile_libvpx() {
  AS=nasm ./configure --prefix=/usr --disable-examples --disable-tools --disable-docs --disable-unit-tests \
    --enable-vp9-highbitdepth --disable-shared "$@"
  make -j"$(jobs)"
  make install DESTDIR="$PWD/installed"
  cp -r installed/usr/include/vpx "$out/include/"
  cp installed/usr/lib/libvpx.a "$out/lib/"
  pkg_config vpx "$(sed -n 's/^Version: //p' installed/usr/lib/pkgconfig/vpx.pc)" "-lvpx -lm -lpthread"
}

# compile_zimg FLAG…
compile_zimg() {
  compile_by_autotools "$@"
  take_pkg_config zimg
}

# compile_opus FLAG…
compile_opus() {
  compile_by_autotools --disable-doc --disable-extra-programs --disable-stack-protector "$@"
  take_pkg_config opus
}

# compile_by_autotools FLAG…: one that has autotools.
compile_by_autotools() {
  autoreconf -fi
  ./configure -q --prefix="$out" --disable-shared "$@"
  make -s -j"$(jobs)" install
}

# Headers are the same everywhere.
copy_headers() {
  local name
  for name in nlohmann-json3 libxxhash; do cp "/usr/share/doc/$name-dev/copyright" "$out/licenses/$name"; done
  cp -r /usr/include/nlohmann /usr/include/xxhash.h "$out/include/"
  pkg_config nlohmann_json "$(pkg-config --modversion nlohmann_json)" ""
  pkg_config libxxhash "$(pkg-config --modversion libxxhash)" ""
}

# add NAME: builds a library, unless OUT has it.
add() {
  local folder
  ! grep -qs "^$1 " "$out/built" || return 0
  if [ "$1" = headers ]; then
    copy_headers
    echo "headers $(pkg-config --modversion nlohmann_json)" >>"$out/built"
    return
  fi
  [ -n "${APT_CONFIG-}" ] || make_apt
  folder=$(source_of "$1")
  (cd "$folder" && "build_$1")
  cp "$folder/debian/copyright" "$out/licenses/$1"
  echo "$1 $(cd "$folder" && dpkg-parsechangelog -S Version)" >>"$out/built"
}

# add_all NAME…
add_all() {
  local name
  mkdir -p "$out/lib" "$out/include" "$out/pkgconfig" "$out/licenses"
  for name; do
    [ "$name" = headers ] || declare -F "build_$name" >/dev/null || die "${0##*/} knows no library $name"
  done
  for name; do
    add "$name"
  done
}
