# mallard_build_flags: what every target of this project is compiled with, never its consumers.
# mallard_plain_flags: the same without sanitizers, for what is loaded into other programs and for those
# programs: a sanitizer brings a malloc of its own.
add_library(mallard_plain_flags INTERFACE)
target_compile_features(mallard_plain_flags INTERFACE cxx_std_20)
target_compile_options(mallard_plain_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror -fno-omit-frame-pointer)
# Without it, gcc's garbage collector runs again and again on templates of several hundred MB: 6 % of compiling a test.
target_compile_options(mallard_plain_flags INTERFACE
  $<$<AND:$<CONFIG:Debug>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:--param=ggc-min-heapsize=1000000>)

add_library(mallard_build_flags INTERFACE)
target_link_libraries(mallard_build_flags INTERFACE mallard_plain_flags)
# Presets with debug checks have all of them, also those that are optimised a little.
target_compile_definitions(mallard_build_flags INTERFACE $<$<CONFIG:Debug>:MALLARD_CHECKS=2>)
# Files and lines, for what a sanitizer or a debugger says about calls: a quarter of compiling so many templates.
# What else there could be of them would be a further third.
option(MALLARD_LINES "Let a debugger know files and lines of what is built with debug checks" ON)
target_compile_options(mallard_build_flags INTERFACE $<$<CONFIG:Debug>:-g$<BOOL:${MALLARD_LINES}>>)

if(MALLARD_SANITIZE)
  # The check of vptr opens a pipe, and takes it for an error where a test lets descriptors run out.
  target_compile_options(mallard_build_flags INTERFACE
    -fsanitize=${MALLARD_SANITIZE} -fno-sanitize=vptr -fno-sanitize-recover=all)
  target_link_options(mallard_build_flags INTERFACE -fsanitize=${MALLARD_SANITIZE})
endif()

# mallard_compile_flags: what the build type compiles with, for what says how it was built.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}" mallard_compile_flags)

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# mallard_as_of_a_program(LIBRARY): compiles a static library for programs alone. What is to be measured is: as code of
# a shared object heaps are slower, by two fifths where they find what is kept by thread.
function(mallard_as_of_a_program library)
  set_target_properties(${library} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${library} PRIVATE -fPIE)
endfunction()
