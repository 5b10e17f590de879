# uattn_add_layer(NAME SOURCES a.c ... USES layer ... [LINK target ...])
#
# A layer is an object library uattn_NAME; programs and shared libraries collect
# the objects of the layers that they need with uattn_link_layers.
function(uattn_add_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;LINK" ${ARGN})
  add_library(uattn_${name} OBJECT ${ARG_SOURCES})
  target_include_directories(uattn_${name} PUBLIC "${PROJECT_SOURCE_DIR}/include"
                                                  "${PROJECT_SOURCE_DIR}/lib"
                                                  "${PROJECT_SOURCE_DIR}")
  target_link_libraries(uattn_${name} PUBLIC ${ARG_LINK})
  set_property(TARGET uattn_${name} PROPERTY UATTN_USES "${ARG_USES}")
  foreach(used ${ARG_USES})
    target_include_directories(
      uattn_${name} PUBLIC $<TARGET_PROPERTY:uattn_${used},INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
endfunction()

# uattn_link_layers(TARGET layer ...): the layers and all that they use.
function(uattn_link_layers target)
  set(pending ${ARGN})
  set(done)
  while(pending)
    list(POP_FRONT pending layer)
    if(NOT layer IN_LIST done)
      list(APPEND done ${layer})
      get_property(uses TARGET uattn_${layer} PROPERTY UATTN_USES)
      list(APPEND pending ${uses})
    endif()
  endwhile()
  foreach(layer ${done})
    target_link_libraries(${target} PRIVATE uattn_${layer})
  endforeach()
endfunction()
