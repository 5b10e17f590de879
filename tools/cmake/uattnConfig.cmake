# find_package(uattn) gives uattn::runtime and uattn::reference, and uattn::uattn where the compiler
# is installed as well: find_package(uattn COMPONENTS compiler) insists on it.
include("${CMAKE_CURRENT_LIST_DIR}/uattn_runtime_targets.cmake")
set(uattn_runtime_FOUND TRUE)
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/uattn_compiler_targets.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/uattn_compiler_targets.cmake")
  set(uattn_compiler_FOUND TRUE)
endif()
foreach(component ${uattn_FIND_COMPONENTS})
  if(uattn_FIND_REQUIRED_${component} AND NOT uattn_${component}_FOUND)
    set(uattn_FOUND FALSE)
    set(uattn_NOT_FOUND_MESSAGE
        "component ${component} is not installed: expected runtime or compiler")
  endif()
endforeach()
