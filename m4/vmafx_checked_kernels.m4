# VMAFX_CHECKED_KERNELS
# Finds the flags with which the C++ compiler puts a call before every load and store and registers every table, as
# emulator needs it for the kernels. Sets CHECKED_ACCESSES and the conditional HAVE_EMULATOR.
AC_DEFUN([VMAFX_CHECKED_KERNELS], [
AC_LANG_PUSH([C++])
CHECKED_ACCESSES=
vmafx_gcc="--param asan-instrumentation-with-call-threshold=0 --param asan-stack=0 --param asan-globals=1"
vmafx_clang="-mllvm -asan-instrumentation-with-call-threshold=0 -mllvm -asan-stack=0 -mllvm -asan-globals=1"
for flags in "$vmafx_gcc" "$vmafx_clang"; do
  AS_IF([test -z "$CHECKED_ACCESSES"],
    [AX_CHECK_COMPILE_FLAG([-fsanitize=kernel-address $flags],
                           [CHECKED_ACCESSES="-fsanitize=kernel-address $flags"], [], [-Werror])])
done
AC_LANG_POP
AC_SUBST([CHECKED_ACCESSES])
AM_CONDITIONAL([HAVE_EMULATOR], [test -n "$CHECKED_ACCESSES"])
])
