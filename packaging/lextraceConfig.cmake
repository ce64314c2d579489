# find_package(lextrace) gives the target lextrace::lextrace.
get_filename_component(lextrace_folder "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET lextrace::lextrace)
  add_library(lextrace::lextrace SHARED IMPORTED)
  set_target_properties(lextrace::lextrace PROPERTIES
    IMPORTED_LOCATION "${lextrace_folder}/lib/liblextrace.so"
    INTERFACE_INCLUDE_DIRECTORIES "${lextrace_folder}/include")
endif()
unset(lextrace_folder)
