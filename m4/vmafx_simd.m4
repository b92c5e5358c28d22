# VMAFX_SIMD
# Decides which of Highway's targets SIMD code is compiled for. Expects HWY_LEVELS, the targets that no build has, with
# "|" between them. Sets it to the flags that leave these out and, with --with-simd=native, those that this machine does
# not run best; simd_summary says which are left.
AC_DEFUN([VMAFX_SIMD], [
AC_ARG_WITH([simd],
  [AS_HELP_STRING([--with-simd=all|native], [compile SIMD code for all processors, picked at run time; or, in a fraction
                          of the time, only for this one and the least of its kind (default: all)])],
  [], [with_simd=all])
vmafx_left_out=
AS_CASE([$with_simd],
  [all], [simd_summary="all levels"],
  [native], [VMAFX_OTHER_LEVELS],
  [AC_MSG_ERROR([--with-simd takes all or native, not $with_simd])])
HWY_LEVELS="$HWY_LEVELS${HWY_LEVELS:+${vmafx_left_out:+|}}$vmafx_left_out"
AS_IF([test -n "$HWY_LEVELS"], [HWY_LEVELS="'-DHWY_DISABLED_TARGETS=($HWY_LEVELS)'"])
AS_IF([test -n "$vmafx_left_out"], [HWY_LEVELS="$HWY_LEVELS '-DVMAFX_LEVELS_LEFT_OUT=($vmafx_left_out)'"])
AC_SUBST([HWY_LEVELS])
])

# VMAFX_OTHER_LEVELS
# Sets vmafx_left_out to the targets that this processor runs, but not best, with "|" between them. Highway itself says
# so, as it does at run time. The target that every processor runs is needed in each build.
AC_DEFUN([VMAFX_OTHER_LEVELS], [
AC_MSG_CHECKING([which SIMD code suits this processor])
vmafx_cppflags=$CPPFLAGS
vmafx_libs=$LIBS
CPPFLAGS="$CPPFLAGS $HWY_CFLAGS -DHWY_WANT_AVX3_DL -DHWY_DISABLED_TARGETS=(${HWY_LEVELS:-0})"
LIBS="$HWY_LIBS $LIBS"
AC_RUN_IFELSE([AC_LANG_PROGRAM([[#include <cstdio>
#include <hwy/targets.h>]], [[
  const auto usable = hwy::SupportedTargets() & (HWY_TARGETS);
  const auto best = usable & -usable;
  FILE* const file = std::fopen("conftest.levels", "w");
  std::fprintf(file, "%s", hwy::TargetName(best));
  for (auto left = (HWY_TARGETS) & ~(best | HWY_STATIC_TARGET); left; left &= left - 1)
    std::fprintf(file, " HWY_%s", hwy::TargetName(left & -left));
  return std::fclose(file);]])],
  [simd_summary=`sed 's/ .*//' conftest.levels`
   vmafx_left_out=`sed 's/^[[^ ]]* *//; s/  */|/g' conftest.levels`
   AC_MSG_RESULT([$simd_summary])],
  [AC_MSG_ERROR([--with-simd=native needs to run a program that asks Highway, which failed: see config.log])],
  [AC_MSG_ERROR([--with-simd=native is for the machine that compiles, and this compiles for another one])])
rm -f conftest.levels
CPPFLAGS=$vmafx_cppflags
LIBS=$vmafx_libs
])
