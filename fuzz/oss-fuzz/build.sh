#!/bin/bash -eu
# Builds the targets for OSS-Fuzz with its compiler, flags and engine, and with the distribution's standard library.
flags=${CXXFLAGS/-stdlib=libc++/}
[ -e configure ] || autoreconf -i
mkdir -p "$WORK/build"
cd "$WORK/build"
"$SRC/vmafx/configure" --without-hip --without-emulator --disable-libvmaf FUZZING_ENGINE="$LIB_FUZZING_ENGINE" \
  CC="$CC" CXX="$CXX" CFLAGS="$CFLAGS" CXXFLAGS="$flags"
make -j"$(nproc)" fuzz

mkdir -p "$OUT/lib"
for seeds in "$SRC"/vmafx/fuzz/corpus/*/; do
  name=$(basename "$seeds")
  [ "$name" != command ] || continue # the target `command` is in Python
  cp "fuzz/$name" "$OUT/"
  patchelf --set-rpath "\$ORIGIN/lib" "$OUT/$name"
  ldd "$OUT/$name" | awk '$3 ~ "/lib(hwy|expat|xxhash|stdc\\+\\+)" { print $3 }' | xargs -r cp -t "$OUT/lib"
  zip -qj "$OUT/${name}_seed_corpus.zip" "$seeds"*
  [ ! -e "$SRC/vmafx/fuzz/$name.dict" ] || cp "$SRC/vmafx/fuzz/$name.dict" "$OUT/"
done
