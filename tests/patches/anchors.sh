# Tests patches/apply on FFmpeg trees of a few lines, and against the patch files. Sourced by tests/patches/run; expects
# $top and $work.

trees=$work/anchors

# excerpt NAME [RELEASE]: makes a tree with the lines that are anchors, and neighbors that could be mistaken for them.
excerpt() {
  tree=$trees/$1
  rm -rf "$tree"
  mkdir -p "$tree/libavfilter"
  echo "${2-8.1}" >"$tree/RELEASE"
  cat >"$tree/configure" <<'CONFIGURE'
#!/bin/sh
  --enable-libvidstab      enable video stabilization using vid.stab [no]
  --enable-libvmaf         enable vmaf filter via libvmaf [no],
                           continued as libvorbis's text is
  --enable-libvorbis       enable Vorbis en/decoding via libvorbis,
EXTERNAL_LIBRARY_LIST="
    libv4l2
    libvmaf
    libvorbis
"
vidstabtransform_filter_deps="libvidstab"
libvmaf_filter_deps="libvmaf"
libvmaf_cuda_filter_deps="libvmaf libvmaf_cuda ffnvcodec"
zmq_filter_deps="libzmq"
enabled libvmaf           && require_pkg_config libvmaf "libvmaf >= 2.0.0" libvmaf.h vmaf_init
enabled libvmaf           && { check_pkg_config libvmaf_cuda "libvmaf >= 2.0.0" libvmaf_cuda.h vmaf_cuda_state_init ||
                               true; }
enabled libvorbis         && require_pkg_config libvorbis vorbis vorbis/codec.h vorbis_info_init
CONFIGURE
  chmod 755 "$tree/configure"
  cat >"$tree/libavfilter/Makefile" <<'MAKEFILE'
OBJS-$(CONFIG_LIBVMAF_FILTER)                += vf_libvmaf.o framesync.o
OBJS-$(CONFIG_LIBVMAF_CUDA_FILTER)           += vf_libvmaf.o framesync.o
OBJS-$(CONFIG_VMAFMOTION_FILTER)             += vf_vmafmotion.o framesync.o
OBJS-$(CONFIG_VPP_QSV_FILTER)                += vf_vpp_qsv.o
OBJS-$(CONFIG_XMEDIAN_FILTER)                += vf_xmedian.o framesync.o
OBJS-$(CONFIG_XPSNR_FILTER)                  += vf_xpsnr.o framesync.o psnr.o
OBJS-$(CONFIG_XSTACK_FILTER)                 += vf_stack.o framesync.o
MAKEFILE
  cat >"$tree/libavfilter/allfilters.c" <<'FILTERS'
extern const FFFilter ff_vf_libvmaf;
extern const FFFilter ff_vf_vmafmotion;
extern const FFFilter ff_vf_vpp_qsv;
extern const FFFilter ff_vf_xmedian;
extern const FFFilter ff_vf_xpsnr;
extern const FFFilter ff_vf_xstack;
FILTERS
  case ${2-8.1} in 5.* | 6.* | n6.* | 7.0*) sed -i '/XPSNR/d; /xpsnr/d' "$tree/libavfilter/Makefile" "$tree/libavfilter/allfilters.c" ;; esac
}

# Each line has a file of the tree, and the beginnings of the lines that an edit needs.
anchors=(
  'configure|  --enable-libvmaf '
  'configure|    libvmaf'
  'configure|libvmaf_filter_deps='
  'configure|enabled libvmaf '
  'libavfilter/Makefile|OBJS-$(CONFIG_LIBVMAF_FILTER)'
  'libavfilter/Makefile|OBJS-$(CONFIG_VMAFMOTION_FILTER)'
  'libavfilter/Makefile|OBJS-$(CONFIG_XMEDIAN_FILTER)'
  'libavfilter/allfilters.c|extern const FFFilter ff_vf_vmafmotion;'
  'libavfilter/allfilters.c|extern const FFFilter ff_vf_xmedian;'
)

# Prints contents, modes and times of all files, which neither a refusal nor a second run may change.
state() { (cd "$1" && find . -type f -printf '%p %m %T@\n' -exec sha256sum {} \; | sort); }

# refused TEXT…: patches/apply refuses the tree with each TEXT on standard error, and leaves it as it was.
refused() {
  local before said text
  before=$(state "$tree")
  said=$("$top/patches/apply" "$tree" 2>&1) && { echo "it was not refused"; return 1; }
  for text in "$@"; do [[ $said == *"$text"* ]] || { echo "'$text' is not in: $said"; return 1; }; done
  equal "$(state "$tree")" "$before"
}

every_line_goes_beside_its_anchor() {
  excerpt plain
  excerpt tree
  "$top/patches/apply" "$tree"
  equal "$(cd "$trees" && diff -U1 -r plain tree | sed -n '/^Only in/d; /^[ +-][^+-]/p; /^@@/s/.*/@@/p')" \
'@@
                            continued as libvorbis'\''s text is
+  --enable-libvmafx        enable vmafx filter via libvmafx [no]
   --enable-libvorbis       enable Vorbis en/decoding via libvorbis,
@@
     libvmaf
+    libvmafx
     libvorbis
@@
 vidstabtransform_filter_deps="libvidstab"
-libvmaf_filter_deps="libvmaf"
+libvmaf_filter_deps_any="libvmaf libvmafx"
 libvmaf_cuda_filter_deps="libvmaf libvmaf_cuda ffnvcodec"
+vmafx_filter_deps="libvmafx"
 zmq_filter_deps="libzmq"
@@
                                true; }
+enabled libvmafx          && require_pkg_config libvmafx "vmafx >= 0.1" vmafx/vmafx.h vmafx_open
 enabled libvorbis         && require_pkg_config libvorbis vorbis vorbis/codec.h vorbis_info_init
@@
-OBJS-$(CONFIG_LIBVMAF_FILTER)                += vf_libvmaf.o framesync.o
+OBJS-$(CONFIG_LIBVMAF_FILTER)                += $(if $(CONFIG_LIBVMAF),vf_libvmaf.o,vf_vmafx.o vmafx_formats.o vmafx_graph.o vmafx_group.o vmafx_held.o vmafx_hw.o vmafx_interrupt.o vmafx_map.o vmafx_options.o vmafx_pairs.o vmafx_sync.o vmafx_vulkan.o) framesync.o
 OBJS-$(CONFIG_LIBVMAF_CUDA_FILTER)           += vf_libvmaf.o framesync.o
 OBJS-$(CONFIG_VMAFMOTION_FILTER)             += vf_vmafmotion.o framesync.o
+OBJS-$(CONFIG_VMAFX_FILTER)                  += vf_vmafx.o vmafx_formats.o vmafx_graph.o vmafx_group.o vmafx_held.o vmafx_hw.o vmafx_interrupt.o vmafx_map.o vmafx_options.o vmafx_pairs.o vmafx_sync.o vmafx_vulkan.o framesync.o
 OBJS-$(CONFIG_VPP_QSV_FILTER)                += vf_vpp_qsv.o
@@
 extern const FFFilter ff_vf_vmafmotion;
+extern const FFFilter ff_vf_vmafx;
 extern const FFFilter ff_vf_vpp_qsv;'
  equal "$(stat -c %a "$tree/configure")" 755
  equal "$(cd "$tree/libavfilter" && ls -- *vmafx* | xargs)" "$(cd "$top/libavfilter_vmafx" && ls -- *.[ch] | xargs)"
}

# In an FFmpeg without a filter xpsnr, ours answers to that name; in others it is not mentioned.
name_xpsnr_goes_where_ffmpeg_has_none() {
  local release
  for release in 5.1 6.0 6.1 7.0; do
    excerpt plain "$release"
    excerpt tree "$release"
    "$top/patches/apply" "$tree"
    equal "$(cd "$trees" && diff -U1 -r plain tree | sed -n '/^[ +-].*\(XMEDIAN\|XPSNR\|xmedian\|xpsnr\|zmq\)/p')" \
'+xpsnr_filter_deps="libvmafx"
 zmq_filter_deps="libzmq"
 OBJS-$(CONFIG_XMEDIAN_FILTER)                += vf_xmedian.o framesync.o
+OBJS-$(CONFIG_XPSNR_FILTER)                  += vf_vmafx.o vmafx_formats.o vmafx_graph.o vmafx_group.o vmafx_held.o vmafx_hw.o vmafx_interrupt.o vmafx_map.o vmafx_options.o vmafx_pairs.o vmafx_sync.o vmafx_vulkan.o vmafx_xpsnr.o framesync.o
 extern const FFFilter ff_vf_xmedian;
+extern const FFFilter ff_vf_xpsnr;'
  done
  for release in 7.1 8.0 8.1 9.0; do
    excerpt plain "$release"
    excerpt tree "$release"
    "$top/patches/apply" "$tree"
    equal "$(cd "$trees" && grep -ri xpsnr plain)" "$(cd "$tree" && grep -ri xpsnr --include=configure --include=Makefile --include=allfilters.c . | sed 's,^\./,plain/,')"
  done
}

# The patches of each release, applied in the order of their numbers, make the same changes as patches/apply. The lines
# of FFmpeg's files that the patches show are enough for this check: each in its place, with nothing between them. (The
# second patch replaces one line by another, so that numbers stay. The third shows lines of configure that the first
# shows, too, only if it is the one that shows them last.)
patches_say_the_same() {
  local patched=$trees/patched patch
  tree=$trees/tree
  rm -rf "$patched" "$tree"
  mkdir -p "$patched/libavfilter"
  awk -v dir="$patched" '
    /^\+\+\+ b\// { file = dir "/" substr($0, 7) }
    /^@@/ { split($3, at, /[+,]/); n = at[2]; end = n + at[3]; next }
    n < end && /^[ +]/ { line[file, n++] = substr($0, 2); last[file] = n > last[file] ? n : last[file] }
    END { for (file in last) for (n = 1; n < last[file]; n++) print line[file, n] >file }' "$top/patches/$1"/*.patch
  cp -a "$patched" "$tree"
  for patch in $(printf '%s\n' "$top/patches/$1"/*.patch | sort -r); do patch -d "$tree" -p1 -R --fuzz=0 --no-backup-if-mismatch <"$patch"; done
  ! grep -r vmafx "$tree" || return 1
  echo "$1" >"$tree/RELEASE"
  "$top/patches/apply" "$tree"
  for file in configure libavfilter/Makefile libavfilter/allfilters.c; do diff -u "$patched/$file" "$tree/$file"; done
}

# each_anchor AWK_PROGRAM: a tree with the program's output instead of an anchor's file is refused, and the file named,
# for each anchor in turn. START is the beginning of the anchor's lines.
each_anchor() {
  local anchor file start
  for anchor in "${anchors[@]}"; do
    file=${anchor%%|*} start=${anchor#*|}
    excerpt tree 7.0 # all anchors matter in this release
    START=$start awk "$1" "$tree/$file" >"$trees/edited"
    ! cmp -s "$trees/edited" "$tree/$file" || { echo "$file has no '$start'"; return 1; }
    cat "$trees/edited" >"$tree/$file"
    refused "$tree/$file should have exactly one line that matches '" "nothing in $tree (FFmpeg 7.0) was changed"
  done
}

missing_anchors_are_named() { each_anchor 'index($0, ENVIRON["START"]) != 1'; }

# Several files are wrong at once.
all_missing_anchors_are_named() {
  excerpt tree
  sed -i '/^enabled libvmaf /d' "$tree/configure"
  sed -i s/ff_vf_vmafmotion/ff_vf_other/ "$tree/libavfilter/allfilters.c"
  refused "$tree/configure should have exactly one line that matches '^enabled libvmaf '" \
    "$tree/libavfilter/allfilters.c should have exactly one line that matches '^extern"
}

# Two possible anchors are refused: patches/apply does not guess the right one.
anchors_that_are_there_twice_are_named() {
  each_anchor '{ print } index($0, ENVIRON["START"]) == 1 { again = $0 } END { if (again) print "else\n" again }'
}

other_dependencies_are_refused() {
  excerpt tree
  sed -i 's/^libvmaf_filter_deps="libvmaf"/libvmaf_filter_deps="libvmaf pixelutils"/' "$tree/configure"
  refused "$tree/configure should have exactly one line that matches '^libvmaf_filter_deps="
}

missing_files_are_named() {
  local file
  for file in configure libavfilter/Makefile libavfilter/allfilters.c; do
    excerpt tree
    rm "$tree/$file"
    refused "no FFmpeg source tree: it has no $file"
  done
}

# The limit is in KiB: the registrations can be written, the filter cannot.
full_disk_changes_nothing() {
  excerpt tree
  (ulimit -f 16 && refused "")
}

releases_by_name() {
  local release
  for release in 5.1 6.0.1 n6.1 7.0.3 7.1-rc1 8.0.git n8.1-12-gabcdef 9.0.2; do
    excerpt tree "$release"
    "$top/patches/apply" "$tree"
  done
  mv "$tree/RELEASE" "$tree/VERSION" # old release tarballs have this name
  "$top/patches/apply" "$tree"
  for release in 4.4.1 5.0 9.1 10.0 2026-11-22-git-abcdef unknown; do
    excerpt tree "$release"
    refused "the filter is not known to fit FFmpeg $release; it fits 5.1 6.0 6.1 7.0 7.1 8.0 8.1 9.0"
  done
}

second_run_changes_nothing() {
  local before release
  for release in 7.0 8.1; do
    excerpt tree "$release"
    "$top/patches/apply" "$tree"
    before=$(state "$tree")
    "$top/patches/apply" "$tree"
    equal "$(state "$tree")" "$before"
  done
}

# as_new: the tree has become what a new tree becomes.
as_new() {
  local old=$tree
  "$top/patches/apply" "$old"
  excerpt new
  "$top/patches/apply" "$tree"
  diff -r "$tree" "$old"
}

# Trees that have an earlier version of the filter, a part of it, or only the first patch.
earlier_trees_are_brought_up_to_date() {
  excerpt tree
  "$top/patches/apply" "$tree"
  echo "/* old */" >"$tree/libavfilter/vf_vmafx.c"
  sed -i 's/ vmafx_sync\.o//' "$tree/libavfilter/Makefile"
  sed -i 's/vmafx >= 0.1/vmafx >= 0.0/' "$tree/configure"
  as_new
  tree=$trees/tree
  sed -i 's/^libvmaf_filter_deps_any=.*/libvmaf_filter_deps="libvmaf"/' "$tree/configure"
  sed -i 's/^\(OBJS-$(CONFIG_LIBVMAF_FILTER).*+=\).*/\1 vf_libvmaf.o framesync.o/' "$tree/libavfilter/Makefile"
  sed -i /ff_vf_vmafx/d "$tree/libavfilter/allfilters.c"
  as_new
}

# objects SETTING…: prints the objects that make takes for libavfilter.
objects() {
  printf 'include libavfilter/Makefile\nall: ; @echo $(sort $(OBJS-yes))\n' | make -s -C "$tree" -f - "$@"
}

objects_fit_the_configured_libraries() {
  local ours="framesync.o vf_vmafx.o vmafx_formats.o vmafx_graph.o vmafx_group.o vmafx_held.o vmafx_hw.o vmafx_interrupt.o vmafx_map.o vmafx_options.o vmafx_pairs.o vmafx_sync.o vmafx_vulkan.o"
  excerpt tree
  "$top/patches/apply" "$tree"
  equal "$(objects CONFIG_VMAFX_FILTER=yes CONFIG_LIBVMAF_FILTER=yes)" "$ours"
  equal "$(objects CONFIG_LIBVMAF_FILTER=yes)" "$ours"
  equal "$(objects CONFIG_LIBVMAF=yes CONFIG_LIBVMAF_FILTER=yes)" "framesync.o vf_libvmaf.o"
  equal "$(objects CONFIG_LIBVMAF=yes CONFIG_LIBVMAF_FILTER=yes CONFIG_VMAFX_FILTER=yes | tr ' ' '\n' | sort)" \
    "$(printf '%s\n' $ours vf_libvmaf.o | sort)"
}

try "patches/apply: every line goes beside its anchor" every_line_goes_beside_its_anchor
try "patches/apply: the name xpsnr goes where FFmpeg has none" name_xpsnr_goes_where_ffmpeg_has_none
for release in "$top"/patches/[0-9]*; do
  try "patches/apply: as the patches for FFmpeg ${release##*/}" patches_say_the_same "${release##*/}"
done
try "patches/apply: a missing anchor is named, and nothing changes" missing_anchors_are_named
try "patches/apply: all missing anchors are named at once" all_missing_anchors_are_named
try "patches/apply: so is an anchor that is there twice" anchors_that_are_there_twice_are_named
try "patches/apply: so is a libvmaf with other dependencies" other_dependencies_are_refused
try "patches/apply: so is a missing file" missing_files_are_named
try "patches/apply: a full disk changes nothing" full_disk_changes_nothing
try "patches/apply: releases of FFmpeg by their names" releases_by_name
try "patches/apply: a second run changes nothing" second_run_changes_nothing
try "patches/apply: what is older is brought up to date" earlier_trees_are_brought_up_to_date
try "patches/apply: objects fit the libraries that are configured" objects_fit_the_configured_libraries
