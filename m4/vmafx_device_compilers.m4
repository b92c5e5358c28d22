# VMAFX_DEVICE_COMPILERS
# Finds the compilers for GPU code and what they can compile for. Reads $with_hip and $with_hip_archs; HIPCC or
# HIP_CLANG name another compiler for AMD, NVCC one for NVIDIA ("no": none). Sets HIP_COMPILER, HIP_DEVICE_ONLY, NVCC,
# LLVM_READELF, CODE_OBJECTS (the files to build) and device_code_summary.
AC_DEFUN([VMAFX_DEVICE_COMPILERS], [
AC_ARG_VAR([HIPCC], [compiler for AMD GPUs, such as the hipcc of a ROCm release])
AC_ARG_VAR([HIP_CLANG], [clang++ (19 or later) as the compiler for AMD GPUs])
AC_ARG_VAR([NVCC], [compiler for NVIDIA GPUs])
CODE_OBJECTS= amd_archs= nvidia_archs= LLVM_READELF=no
AS_IF([test "x$with_hip" = xno], [device_code_summary="none (without --with-hip the GPU is not used)"], [
  AS_IF([test -n "$HIPCC"], [HIP_COMPILER=$HIPCC],
        [test -n "$HIP_CLANG"], [HIP_COMPILER=$HIP_CLANG],
        [AC_CHECK_PROGS([HIP_COMPILER], [clang++-19 clang++-20 clang++-21 clang++-22 clang++ hipcc], [no],
                        [$PATH$PATH_SEPARATOR/opt/rocm/bin$PATH_SEPARATOR/opt/rocm/llvm/bin])])
  AS_IF([test -z "$NVCC"], [AC_PATH_PROG([NVCC], [nvcc], [no], [$PATH$PATH_SEPARATOR/usr/local/cuda/bin])])
  AC_CHECK_PROGS([vmafx_readelf], [llvm-readelf-19 llvm-readelf-20 llvm-readelf-21 llvm-readelf], [no],
                 [$PATH$PATH_SEPARATOR/opt/rocm/llvm/bin])
  LLVM_READELF=$vmafx_readelf

  vmafx_archs=`echo "$with_hip_archs" | tr , ' '`
  AS_IF([test "x$with_hip_archs" = xdefault],
    [vmafx_archs="gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036"
     vmafx_archs="$vmafx_archs gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1200 gfx1201"])
  AS_IF([test "x$HIP_COMPILER" != xno && test "x$with_hip_archs" != xno], [
    dnl hipcc links unless told to generate a code object.
    AS_CASE([`basename "$HIP_COMPILER"`], [hipcc*], [HIP_DEVICE_ONLY=--genco], [HIP_DEVICE_ONLY=--offload-device-only])
    AC_MSG_CHECKING([which AMD architectures $HIP_COMPILER compiles for])
    for arch in $vmafx_archs; do
      AS_IF([$HIP_COMPILER -x hip $HIP_DEVICE_ONLY --no-gpu-bundle-output -nogpulib -nogpuinc -std=c++20 -I$srcdir/src \
               --offload-arch=$arch $srcdir/src/kernels/common/self_test.hip -o conftest.co >&AS_MESSAGE_LOG_FD 2>&1],
        [amd_archs="$amd_archs $arch" CODE_OBJECTS="$CODE_OBJECTS device_code/$arch.co"],
        [test "x$with_hip_archs" != xdefault],
        [AC_MSG_ERROR([$HIP_COMPILER does not compile for $arch, see config.log])])
    done
    rm -f conftest.co
    AC_MSG_RESULT([${amd_archs:-none}])
    AS_IF([test -z "$amd_archs" && test -n "$HIPCC$HIP_CLANG"],
          [AC_MSG_ERROR([$HIP_COMPILER compiles the kernels for no AMD architecture, see config.log])])
  ])
  AS_IF([test "x$NVCC" != xno], [
    AC_MSG_CHECKING([which NVIDIA architectures $NVCC compiles for])
    for code in sm_90.cubin compute_75.ptx; do
      arch=`echo $code | cut -d. -f1` kind=`echo $code | cut -d. -f2`
      AS_IF([$NVCC -x cu -$kind -arch=$arch -std=c++20 --expt-relaxed-constexpr -I$srcdir/src \
               $srcdir/src/kernels/common/self_test.hip -o conftest.out >&AS_MESSAGE_LOG_FD 2>&1],
        [nvidia_archs="$nvidia_archs $arch" CODE_OBJECTS="$CODE_OBJECTS device_code/$code"])
    done
    rm -f conftest.out
    AC_MSG_RESULT([${nvidia_archs:-none}])
  ])
  AS_IF([test -n "$CODE_OBJECTS"], [device_code_summary="for$amd_archs$nvidia_archs"],
        [device_code_summary="none: no device compiler (install clang-19 and lld-19)"])
  AS_IF([test "x$with_hip" = xyes && test -z "$CODE_OBJECTS"],
        [AC_MSG_ERROR([--with-hip, but there is no device compiler: install clang-19 and lld-19])])
])
AC_SUBST([HIP_COMPILER])
AC_SUBST([HIP_DEVICE_ONLY])
AC_SUBST([LLVM_READELF])
AC_SUBST([CODE_OBJECTS])
AM_CONDITIONAL([HAVE_DEVICE_CODE], [test -n "$CODE_OBJECTS"])
])
