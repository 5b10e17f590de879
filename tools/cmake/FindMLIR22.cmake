# Defines MLIR22::CAPI: MLIR's and LLVM's C interfaces of release 22.
#
# Debian's libMLIR.so exports no C API: the archives libMLIRCAPI*.a hold it and
# resolve against libMLIR.so and libLLVM. The imported targets of MLIR's own
# CMake package would pull a second, static MLIR, so they are not used. With
# UATTN_STATIC_LLVM everything comes from the archives: a program of some 70 MB
# that needs the C library alone, for machines without LLVM.
set(MLIR22_ROOT "/usr/lib/llvm-22" CACHE PATH "Where LLVM and MLIR 22 are installed")
file(GLOB MLIR22_CAPI_ARCHIVES "${MLIR22_ROOT}/lib/libMLIRCAPI*.a")
find_path(MLIR22_INCLUDE_DIR mlir-c/IR.h PATHS "${MLIR22_ROOT}/include" NO_DEFAULT_PATH)
find_library(MLIR22_MLIR_LIBRARY MLIR PATHS "${MLIR22_ROOT}/lib" NO_DEFAULT_PATH)
find_library(MLIR22_LLVM_LIBRARY NAMES LLVM-22 LLVM PATHS "${MLIR22_ROOT}/lib" NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  MLIR22 REQUIRED_VARS MLIR22_INCLUDE_DIR MLIR22_MLIR_LIBRARY MLIR22_LLVM_LIBRARY
                       MLIR22_CAPI_ARCHIVES
  REASON_FAILURE_MESSAGE "run tools/dev/setup, which installs libmlir-22-dev and llvm-22-dev")
if(MLIR22_FOUND AND NOT TARGET MLIR22::CAPI)
  add_library(MLIR22::CAPI INTERFACE IMPORTED)
  target_include_directories(MLIR22::CAPI SYSTEM INTERFACE "${MLIR22_INCLUDE_DIR}")
  if(UATTN_STATIC_LLVM)
    file(GLOB MLIR22_ARCHIVES "${MLIR22_ROOT}/lib/libMLIR*.a" "${MLIR22_ROOT}/lib/libLLVM*.a")
    target_link_libraries(
      MLIR22::CAPI
      INTERFACE -Wl,--gc-sections -Wl,--as-needed -Wl,--start-group ${MLIR22_ARCHIVES}
                -Wl,--end-group -l:libstdc++.a -l:libzstd.a -l:libz.a -static-libgcc m
                $<$<CONFIG:Release>:-Wl,--strip-all>)
  else()
    target_link_libraries(
      MLIR22::CAPI
      INTERFACE -Wl,--start-group ${MLIR22_CAPI_ARCHIVES} -Wl,--end-group
                "${MLIR22_MLIR_LIBRARY}" "${MLIR22_LLVM_LIBRARY}" stdc++ m
                "-Wl,-rpath,${MLIR22_ROOT}/lib")
  endif()
endif()
