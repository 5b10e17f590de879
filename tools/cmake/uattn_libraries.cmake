# The shared libraries, their public headers and their packages.
#
# libuattn_runtime is what ships to production and links nothing of LLVM, nor
# does libuattn_reference, the reference alone; libuattn is the compiler, with
# the reference that checks what it makes. Each is complete in itself: the
# layers that several need are in each of them.
set(CMAKE_INSTALL_LIBDIR "lib" CACHE PATH "Where libraries go, under the prefix")
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# uattn_add_shared_library(TARGET COMPONENT name LAYERS layer ... HEADERS a.h ...)
function(uattn_add_shared_library target)
  cmake_parse_arguments(ARG "" "COMPONENT" "LAYERS;HEADERS" ${ARGN})
  add_library(${target} SHARED)
  uattn_link_layers(${target} ${ARG_LAYERS})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C VERSION ${PROJECT_VERSION}
                                             SOVERSION ${PROJECT_VERSION_MAJOR})
  # The archives of MLIR's C interface stay private to the library.
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,--as-needed)
  if(NOT UATTN_SANITIZE) # the sanitizers' symbols come with the program
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
  target_include_directories(
    ${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(
    TARGETS ${target}
    EXPORT uattn_${ARG_COMPONENT}_targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
            COMPONENT ${ARG_COMPONENT}
            NAMELINK_COMPONENT ${ARG_COMPONENT})
  list(TRANSFORM ARG_HEADERS PREPEND "${PROJECT_SOURCE_DIR}/include/uattn/")
  install(
    FILES ${ARG_HEADERS}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/uattn
    COMPONENT ${ARG_COMPONENT})
endfunction()

# uattn_install_pkg_config(NAME COMPONENT)
function(uattn_install_pkg_config name component)
  configure_file("${PROJECT_SOURCE_DIR}/tools/cmake/${name}.pc.in"
                 "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(
    FILES "${PROJECT_BINARY_DIR}/${name}.pc"
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT ${component})
endfunction()

uattn_add_shared_library(
  uattn_runtime_shared
  COMPONENT runtime
  LAYERS runtime emulator host
  HEADERS artifact.h base.h emulator.h error.h exchange.h host.h kernels.h problem.h runtime.h tensor.h)
set_target_properties(uattn_runtime_shared PROPERTIES OUTPUT_NAME uattn_runtime
                                                      EXPORT_NAME runtime)
uattn_install_pkg_config(uattn-runtime runtime)

uattn_add_shared_library(
  uattn_reference_shared
  COMPONENT runtime
  LAYERS reference
  HEADERS reference.h)
set_target_properties(uattn_reference_shared PROPERTIES OUTPUT_NAME uattn_reference
                                                        EXPORT_NAME reference)

uattn_add_shared_library(
  uattn
  COMPONENT compiler
  LAYERS compiler reference
  HEADERS compiler.h mlir.h)
set_target_properties(uattn PROPERTIES INSTALL_RPATH "${MLIR22_ROOT}/lib")
# mlir.h speaks of MLIR's C interface.
target_include_directories(uattn SYSTEM INTERFACE $<INSTALL_INTERFACE:${MLIR22_INCLUDE_DIR}>)
uattn_install_pkg_config(uattn compiler)

foreach(component runtime compiler)
  install(
    EXPORT uattn_${component}_targets
    NAMESPACE uattn::
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/uattn
    COMPONENT ${component})
endforeach()
write_basic_package_version_file("${PROJECT_BINARY_DIR}/uattnConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_SOURCE_DIR}/tools/cmake/uattnConfig.cmake"
        "${PROJECT_BINARY_DIR}/uattnConfigVersion.cmake"
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/uattn
  COMPONENT runtime)
