# VMAFX_DEVICE_COMPILERS
# Finds the compilers for GPU code and the architectures to compile for. Reads $with_hip (yes, no, auto) and
# $with_hip_archs (a list, all, none or auto). Sets HIP_COMPILER, HIP_FLAGS, NVCC, CUDA_FLAGS, CODE_OBJECTS (the files to
# build), device_code_summary and the conditional WITH_HIP.
AC_DEFUN([VMAFX_DEVICE_COMPILERS], [
AC_ARG_VAR([HIPCC], [compiler for AMD GPUs, such as the hipcc of a ROCm release])
AC_ARG_VAR([HIP_CLANG], [clang++ (19 or later) as the compiler for AMD GPUs])
AC_ARG_VAR([NVCC], [compiler for NVIDIA GPUs, or no])
CODE_OBJECTS= amd_archs= unknown_archs= missing_archs= nvidia_archs=
AS_IF([test "x$with_hip" = xno], [device_code_summary="none (--without-hip)"], [
  VMAFX_AMD_COMPILER
  VMAFX_NVIDIA_COMPILER
  AS_IF([test -n "$CODE_OBJECTS"], [device_code_summary="for$amd_archs$nvidia_archs"],
        [device_code_summary="none: no fitting device compiler (install clang-19 and lld-19)"])
  AS_IF([test -n "$amd_archs" && test -n "$unknown_archs"],
        [device_code_summary="$device_code_summary; $HIP_COMPILER does not compile for$unknown_archs"])
  AS_IF([test "x$with_hip" = xyes && test -z "$CODE_OBJECTS"],
        [AC_MSG_ERROR([--with-hip, but there is no fitting device compiler: install clang-19 and lld-19 (see config.log)])])
])
AC_SUBST([HIP_COMPILER])
AC_SUBST([HIP_FLAGS])
AC_SUBST([CUDA_FLAGS])
AC_SUBST([CODE_OBJECTS])
AM_CONDITIONAL([WITH_HIP], [test "x$with_hip" != xno])
])

# VMAFX_COMPILES_FOR_AMD(COMPILER, ARCHITECTURE, THEN, ELSE)
# hipcc links unless told to generate a code object. The kernels need neither HIP's headers nor its device libraries.
# Code objects are of version 4: ROCm before 5.3 refuses version 5, the compilers' own choice since LLVM 18, with
# INVALID_ARGUMENT. Code for a family of GPUs (gfx11-generic) needs version 6, which ROCm loads since 6.4. Makefile.am has
# the same rule. Without -fuse-cuid=none a symbol would be named by the path of the source.
m4_define([VMAFX_COMPILES_FOR_AMD], [
AS_CASE(["$1"], [*hipcc*], [HIP_FLAGS=--genco], [HIP_FLAGS=--offload-device-only])
HIP_FLAGS="-x hip $HIP_FLAGS --no-gpu-bundle-output -nogpulib -nogpuinc -O3 -std=c++20 -ffp-contract=off"
HIP_FLAGS="$HIP_FLAGS -fuse-cuid=none"
AS_CASE([$2], [*-generic], [object_version=6], [object_version=4])
AS_IF([$1 $HIP_FLAGS -mcode-object-version=$object_version -I$srcdir/src --offload-arch=$2 $srcdir/src/kernels/gpu/self_test.hip -o conftest.co \
         >&AS_MESSAGE_LOG_FD 2>&1], [$3], [$4])
rm -f conftest.co
])

# VMAFX_AMD_FAMILY(ARCHITECTURE) sets $family to the target whose code runs on all GPUs of its family, as
# src/hip/code_objects.cpp has them; it is for GPUs that the compiler does not know.
m4_define([VMAFX_AMD_FAMILY], [
AS_CASE([$1], [gfx94? | gfx95?], [family=gfx9-4-generic], [gfx101?], [family=gfx10-1-generic],
        [gfx103?], [family=gfx10-3-generic], [gfx110? | gfx115?], [family=gfx11-generic],
        [gfx120?], [family=gfx12-generic], [family=unknown])
])

# The compiler that the user names, else the first that compiles for a common architecture.
m4_define([VMAFX_AMD_COMPILER], [
AS_IF([test "x$with_hip_archs" = xno], [with_hip_archs=none])
AS_IF([test "x$with_hip_archs" = xnone], [HIP_COMPILER=no],
      [test -n "$HIPCC"], [HIP_COMPILER=$HIPCC],
      [test -n "$HIP_CLANG"], [HIP_COMPILER=$HIP_CLANG],
  [AC_CACHE_CHECK([for a compiler for AMD GPUs], [ac_cv_path_HIP_COMPILER],
    [AC_PATH_PROGS_FEATURE_CHECK([HIP_COMPILER], [clang++-19 clang++-20 clang++-21 clang++-22 clang++ hipcc],
      [VMAFX_COMPILES_FOR_AMD([$ac_path_HIP_COMPILER], [gfx90a],
        [ac_cv_path_HIP_COMPILER=$ac_path_HIP_COMPILER ac_path_HIP_COMPILER_found=:])],
      [ac_cv_path_HIP_COMPILER=no], [$PATH$PATH_SEPARATOR/opt/rocm/bin$PATH_SEPARATOR/opt/rocm/llvm/bin])])
   HIP_COMPILER=$ac_cv_path_HIP_COMPILER])
# Of `all`, clang 19 does not know gfx950, gfx1153 and gfx9-4-generic, and need not.
AS_CASE([$with_hip_archs],
  [none], [vmafx_archs=],
  [auto | all],
    [vmafx_archs="gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036"
     vmafx_archs="$vmafx_archs gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 gfx1200 gfx1201"
     vmafx_archs="$vmafx_archs gfx9-generic gfx9-4-generic gfx10-1-generic gfx10-3-generic gfx11-generic gfx12-generic"],
  [vmafx_archs=`echo "$with_hip_archs" | tr , ' '`])
AS_IF([test "x$HIP_COMPILER" != xno], [
  AC_MSG_CHECKING([which AMD architectures $HIP_COMPILER compiles for])
  for arch in $vmafx_archs; do
    VMAFX_COMPILES_FOR_AMD([$HIP_COMPILER], [$arch], [],
      [VMAFX_AMD_FAMILY([$arch])
       VMAFX_COMPILES_FOR_AMD([$HIP_COMPILER], [$family], [arch=$family],
         [unknown_archs="$unknown_archs $arch"
          AS_CASE(["$with_hip_archs $arch"], [auto* | all\ gfx950 | all\ gfx1153 | all\ gfx9-4-generic], [],
                  [missing_archs="$missing_archs $arch"])
          arch=])])
    AS_CASE(["$arch, $amd_archs "], [,* | *" $arch "*], [],
            [amd_archs="$amd_archs $arch" CODE_OBJECTS="$CODE_OBJECTS device_code/$arch.co"])
  done
  AC_MSG_RESULT([${amd_archs:-none}])
  AS_IF([test -z "$amd_archs" && test -n "$HIPCC$HIP_CLANG"],
        [AC_MSG_ERROR([$HIP_COMPILER compiles the kernels for no AMD architecture, see config.log])])
], [unknown_archs=" $vmafx_archs"
    AS_IF([test "x$with_hip_archs" != xauto && test -n "$vmafx_archs"], [missing_archs=$unknown_archs])])
AS_IF([test -n "$missing_archs"],
      [AC_MSG_ERROR([--with-hip-archs: no compiler for$missing_archs (see config.log)])])
])

# Machine code for the data-center cards of its generation, and PTX, which the driver translates, for all others.
m4_define([VMAFX_NVIDIA_COMPILER], [
AS_IF([test -z "$NVCC"], [AC_PATH_PROG([NVCC], [nvcc], [no], [$PATH$PATH_SEPARATOR/usr/local/cuda/bin])])
CUDA_FLAGS="-x cu -O3 -std=c++20 -fmad=false --expt-relaxed-constexpr"
AS_IF([test "x$NVCC" != xno], [
  AC_MSG_CHECKING([which NVIDIA architectures $NVCC compiles for])
  AS_CASE([$with_cuda_archs], [all], [vmafx_archs="sm_90 compute_75"], [vmafx_archs=`echo "$with_cuda_archs" | tr , ' '`])
  for code in `echo "$vmafx_archs" | sed 's/sm_90/&.cubin/; s/compute_75/&.ptx/'`; do
    arch=`echo $code | cut -d. -f1` kind=`echo $code | cut -d. -f2`
    AS_IF([$NVCC $CUDA_FLAGS -$kind -arch=$arch -I$srcdir/src $srcdir/src/kernels/gpu/self_test.hip -o conftest.out \
             >&AS_MESSAGE_LOG_FD 2>&1],
      [nvidia_archs="$nvidia_archs $arch" CODE_OBJECTS="$CODE_OBJECTS device_code/$code"])
  done
  rm -f conftest.out
  AC_MSG_RESULT([${nvidia_archs:-none}])
])
])
