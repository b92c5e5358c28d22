# Functions for what is made for other machines: tools from PyPI, the list of what is inside, the self-test, wheels.
# Sourced, after tools/common.sh; expects $work, the folder of the builds, $tree, that of vmafx in it, $libraries, what
# tools/libraries.sh has built there, $codecs, those of them that ffmpeg is linked with, and the command $strip.

python=$build/portable/python
# Versions, with their hashes, that make the same bytes today and later.
python_packages=$top/tools/portable-tools.txt

# fetch_tools: gets zig and what makes wheels and lists from PyPI.
fetch_tools() {
  local key
  key=$(sha256sum <"$python_packages")
  ! fresh "$python.key" "$key" || return 0
  rm -rf "$python"
  python3 -m venv "$python"
  fetch_from_pypi "$python_packages"
  echo "$key" >"$python.key"
}

# fetch_from_pypi LIST FLAG…: installs the packages of a list, whose hashes pip compares.
fetch_from_pypi() { "$python/bin/pip" install -q --no-deps --require-hashes --only-binary=:all: -r "$@"; }

# add_tool NAME COMMAND…: writes a script in $work/bin that runs a compiler with flags: configure scripts take one of
# one word.
add_tool() {
  local name=$1
  shift
  mkdir -p "$work/bin"
  printf '#!/bin/sh\nexec %s "$@"\n' "$*" >"$work/bin/$name.new"
  chmod +x "$work/bin/$name.new"
  mv "$work/bin/$name.new" "$work/bin/$name"
}

# -- The build ---------------------------------------------------------------------------------------------------------

# build_programs: builds the library and FFmpeg, 8.1 or else 9.0, for $system, by functions of the script that sources
# this and those of tests/support/ffmpeg.sh. The folder's name begins those of the logs.
build_programs() {
  local kind=${work##*/} why
  why=$(obstacle)
  [ -z "$why" ] || die "cannot build for $system: $why"
  mkdir -p "$work" "$logs"
  step $kind-tools "getting what builds and packs from PyPI" fetch_tools
  use_tools
  step $kind-libraries "building libraries for $system" build_libraries
  step $kind-codecs "building decoders and encoders for $system" build_codecs
  [ -x "$top/configure" ] || step autoreconf "preparing configure" autoreconf -i "$top"
  step $kind-configure "configuring vmafx for $system" configure_library
  step $kind-make "building the library for $system" compile_library
  step $kind-selftest "building the self-test for $system" compile_selftest
  step $kind-source "getting the source of FFmpeg" patched_source "$work/ffmpeg-source" 8.1 9.0
  step $kind-ffmpeg-configure "configuring ffmpeg for $system" configure_ffmpeg
  step $kind-ffmpeg "building ffmpeg for $system" compile_ffmpeg
}

# empty_tree: begins the library's build anew, in its folder: with objects of another configuration in it, it would not
# have the bytes of a fresh one.
empty_tree() {
  rm -rf "$tree"
  mkdir -p "$tree"
  cd "$tree"
}

# check_ffmpeg_parts FLAG…: dies if FFmpeg, configured in this folder with these flags, lacks a part that they name.
# Its configure says nothing of names that it does not know.
check_ffmpeg_parts() {
  local flag name names
  for flag; do
    [[ $flag =~ ^--enable-(encoder|decoder|muxer|demuxer|filter|protocol|indev)=(.*)$ ]] || continue
    IFS=, read -ra names <<<"${BASH_REMATCH[2]}"
    for name in "${names[@]}"; do
      [[ $name == *'*'* ]] || grep -q "^#define CONFIG_${name^^}_${BASH_REMATCH[1]^^} 1" config_components.h ||
        die "this FFmpeg has no ${BASH_REMATCH[1]} $name"
    done
  done
}

# -- What is inside ----------------------------------------------------------------------------------------------------

# common_components: prints what is inside everywhere, a line for each: name, version, license by its SPDX name, place
# of the source.
common_components() {
  local ffmpeg name number license
  ffmpeg=$(cat "$work/ffmpeg-source/RELEASE")
  echo "vmafx $(own_version)$("$top/tools/commit" "$top" "$(own_version)") BSD-2-Clause -"
  echo "ffmpeg $ffmpeg GPL-3.0-or-later https://ffmpeg.org/releases/ffmpeg-$ffmpeg.tar.xz"
  while read -r name number; do
    [[ " highway check headers $codecs " == *" $name "* ]] || continue
    case $name in
      highway) license=Apache-2.0 ;;
      check) license=LGPL-2.1-or-later ;;
      headers) name=nlohmann-json3 license=MIT ;;
      zlib) license=Zlib ;;
      dav1d) license=BSD-2-Clause ;;
      x264 | x265) license=GPL-2.0-or-later ;;
      svt-av1) license=BSD-3-Clause-Clear ;;
      libvpx | opus) license=BSD-3-Clause ;;
      zimg) license=WTFPL ;;
      *) die "tools/packing.sh has no license of $name" ;;
    esac
    echo "$name $number $license https://snapshot.debian.org/package/$name/"
  done <"$libraries/built"
  echo "xxhash $(pkg-config --modversion libxxhash) BSD-2-Clause https://snapshot.debian.org/package/xxhash/"
  name=$(version_of_nvcc "$tree")
  [ -z "$name" ] || echo "cuda-nvcc $name LicenseRef-NVIDIA-CUDA-EULA https://docs.nvidia.com/cuda/eula/"
}

# list_components FOLDER: writes the SBOM and the licenses. The function components prints what is inside of a kind of
# build, as common_components does; a function own_components adds what only a bundle has.
list_components() {
  local name
  mkdir -p "$1/licenses"
  {
    common_components
    components
    ! declare -F own_components >/dev/null || own_components
  } >"$work/components"
  "$python/bin/python" "$top/tools/make_sbom.py" "$(build_time)" <"$work/components" >"$1/sbom.cdx.json"
  for name in highway check nlohmann-json3 libxxhash $codecs; do
    cp "$libraries/licenses/$name" "$1/licenses/"
  done
  cp "$work/ffmpeg-source/COPYING.GPLv3" "$1/licenses/ffmpeg"
  cp "$top/LICENSE" "$1/licenses/vmafx"
}

# -- The self-test -----------------------------------------------------------------------------------------------------

# add_selftest FOLDER [ENDING]: what tests a GPU without anything else (docs/hip.md): the programs, whose names may have
# an ending, and the golden clips as what writes them and their scores.
add_selftest() {
  local folder=$1/lib/vmafx/selftest ending=${2-}
  mkdir -p "$folder"
  cp "$(built_program "tests/kernels/parity_test$ending")" "$(built_program "bench/device$ending")" \
    "$work/make_clip$ending" "$top/tools/selftest.py" "$top"/tests/golden/check.py "$top"/tests/golden/*.json "$folder/"
  $strip "$folder/parity_test$ending" "$folder/device$ending" "$folder/make_clip$ending"
  # shellcheck disable=SC2046
  echo $(device_codes "$tree" | grep . || echo no GPU) >"$folder/device_code"
}

# built_program NAME: prints the file of a program in $tree. On Windows what libtool puts there starts it, and it is
# itself in a folder beside.
built_program() {
  local inner=$tree/${1%/*}/.libs/${1##*/}
  if [ -x "$inner" ]; then echo "$inner"; else echo "$tree/$1"; fi
}

# device_codes TREE: prints the GPUs whose kernels the library of a build has. Kernels that an earlier build was
# configured for may still lie in the folder.
device_codes() { sed -nE 's/^VMAFX_CODE_OBJECT\([^"]*"([^"]*)".*/\1/p' "$1/device_code/list.inc" | sort; }

# version_of_nvcc TREE: prints that of the compiler of the kernels for NVIDIA GPUs; nothing if the library has none.
version_of_nvcc() {
  ! device_codes "$1" | grep -qE '^(sm|compute)_' ||
    concatenate "$1/device_code/compilers" | sed -nE 's/^Cuda compilation tools, .*, V([0-9.]+)$/\1/p'
}

# pack_programs FOLDER [ENDING]: packs the programs of the self-test, which selftest.py unpacks when it runs. Each has
# all kernels once more, which a wheel, packed file by file, would have twice.
pack_programs() {
  mkdir "$1/programs"
  mv "$1/parity_test${2-}" "$1/device${2-}" "$1/make_clip${2-}" "$1/programs/"
  (pack_alike "$1" programs "$1/programs.tar.xz" "-9 --threads=1")
  rm -r "$1/programs"
}

# -- The command without a wheel ---------------------------------------------------------------------------------------

# What the command needs of PyPI, in pure Python: compiled parts would be for one version of Python.
command_packages=$(sed -nE 's/^([a-z].*==[^ ]+).*/\1/p' "$top/tools/portable-command.txt")

# copy_command FOLDER DOC: the module with what it needs, and the licenses of that.
copy_command() {
  local package folder
  copy_module "$1"
  fetch_from_pypi "$top/tools/portable-command.txt" --no-compile --target "$work/command" --upgrade
  for package in $command_packages; do
    folder=${package%%==*}
    (cd "$work/command" && find "$folder" -name '*.py' -print0 | xargs -0 cp --parents -t "$1")
    cp "$work/command/$folder-${package##*==}".dist-info/licenses/LICENSE* "$2/licenses/$folder"
  done
}

# command_components: prints what copy_command adds, as common_components does.
command_components() {
  local package
  for package in $command_packages; do
    echo "${package%%==*} ${package##*==} BSD-3-Clause https://pypi.org/project/${package%%==*}/${package##*==}/"
  done
}

# -- Wheels ------------------------------------------------------------------------------------------------------------

# wheel_name: prints the name of the wheel for $wheel_platform, PyPI's name of the system and the processor.
wheel_name() { echo "vmafx-$(own_version)-py3-none-$wheel_platform.whl"; }

# write_project FOLDER PROGRAM…: writes what setuptools makes a wheel from, with a command for each program. pip names
# the whole wheel by one license, and pure Python by another tag than programs.
write_project() {
  local folder=$1 name more=""
  shift
  for name; do more+="\\nvmafx-$name = \"vmafx._programs:$name\""; done
  sed -e 's/^license = .*/license = "BSD-2-Clause AND GPL-3.0-or-later"/' -e "s/^vmafx = \"vmafx\.command.*/&$more/" \
    -e 's,^vmafx = \["py\.typed",&\, "_packed/**",' "$top/python/pyproject.toml" >"$folder/pyproject.toml"
  cat >"$folder/setup.py" <<SETUP
from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class WithPrograms(Distribution):
    def has_ext_modules(self):
        return True


class ForAnyPython(bdist_wheel):
    def get_tag(self):
        return "py3", "none", "$wheel_platform"


setup(distclass=WithPrograms, cmdclass={"bdist_wheel": ForAnyPython})
SETUP
}

# make_wheel FOLDER: files in a wheel have the rights of new files, which must not depend on the account.
make_wheel() {
  umask 022
  chmod -R u=rwX,go=rX "$1"
  SOURCE_DATE_EPOCH=$(build_time) "$python/bin/pip" wheel -q --no-deps --no-build-isolation --no-index -w "$1/out" "$1"
}

# pack_wheel FOLDER FILE: the file may be on another disk than the build.
pack_wheel() {
  begin_part "$2"
  (make_wheel "$1") && cp "$1/out/$(wheel_name)" "$part" && end_part "$2"
}
