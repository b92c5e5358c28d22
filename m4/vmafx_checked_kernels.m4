# VMAFX_CHECKED_KERNELS
# Finds the flags with which the C++ compiler puts a call before every load and store and registers every table, as
# emulator needs it for the kernels. Sets CHECKED_ACCESSES and the conditional HAVE_EMULATOR; and EMULATOR_DIR, the build folder whose
# emulator the tests run on, with the conditional OWN_EMULATOR where that is this one.
AC_DEFUN([VMAFX_CHECKED_KERNELS], [
AC_ARG_WITH([emulator],
  [AS_HELP_STRING([--with-emulator=DIR], [test on the emulator in this build folder, and neither build nor test one here])
AS_HELP_STRING([--without-emulator], [neither build an emulator of GPUs nor test on one])],
  [], [with_emulator=yes])
AC_LANG_PUSH([C++])
CHECKED_ACCESSES=
vmafx_gcc="--param asan-instrumentation-with-call-threshold=0 --param asan-stack=0 --param asan-globals=1"
vmafx_clang="-mllvm -asan-instrumentation-with-call-threshold=0 -mllvm -asan-stack=0 -mllvm -asan-globals=1"
vmafx_clang="$vmafx_clang -mllvm -asan-kernel-mem-intrinsic-prefix=1"
# For Windows clang's driver refuses what its compiler can do. Code there takes the place of the shadow, which it has no
# use for, from a variable, unless it is constant.
vmafx_windows="-Xclang -fsanitize=kernel-address -Xclang -fsanitize-recover=kernel-address $vmafx_clang"
for flags in "-fsanitize=kernel-address $vmafx_gcc" "-fsanitize=kernel-address $vmafx_clang" \
             "$vmafx_windows -mllvm -asan-mapping-offset=0x10000"; do
  AS_IF([test -z "$CHECKED_ACCESSES" && test "x$with_emulator" != xno],
    [AX_CHECK_COMPILE_FLAG([$flags], [CHECKED_ACCESSES=$flags], [], [-Werror])])
done
AC_LANG_POP
AC_SUBST([CHECKED_ACCESSES])
AM_CONDITIONAL([HAVE_EMULATOR], [test -n "$CHECKED_ACCESSES"])
AM_CONDITIONAL([OWN_EMULATOR], [test -n "$CHECKED_ACCESSES" && test "x$with_emulator" = xyes])
AS_IF([test "x$with_emulator" = xyes], [EMULATOR_DIR=`pwd`], [EMULATOR_DIR=$with_emulator])
AC_SUBST([EMULATOR_DIR])
])
