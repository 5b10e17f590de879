# Language level, warnings and defaults for every target.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # POSIX and dlopen declarations of glibc
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()

option(UATTN_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)

add_compile_options(-Wall -Wextra -Werror -Wconversion -Wshadow -Wstrict-prototypes
                    -Wmissing-prototypes)
add_compile_definitions(_GNU_SOURCE)
if(UATTN_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

option(UATTN_STATIC_LLVM "Link MLIR and LLVM into the programs, for machines without them" OFF)

option(UATTN_FUZZ "Drive the fuzz tests by libFuzzer, which needs clang" OFF)
if(UATTN_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "UATTN_FUZZ: the compiler is ${CMAKE_C_COMPILER_ID}, expected Clang")
  endif()
  # clang warns of more than gcc, which the ordinary builds listen to.
  add_compile_options(-fsanitize=fuzzer-no-link -Wno-error)
endif()
