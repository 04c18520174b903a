# mallard_boosts: versions of Boost's headers that are at hand, such as 1074; mallard_boost_VERSION is a library of each.
#
# The system's, and what is unpacked in MALLARD_BOOST_PREFIX: Debian's Boosts cannot be installed side by side, so
# `./dev test` unpacks a second one and says so here.
set(MALLARD_BOOST_PREFIX "" CACHE PATH "Where packages of a second Boost are unpacked")

find_path(mallard_boost_of_system boost/version.hpp REQUIRED NO_CACHE)
set(mallard_boosts)
foreach(include ${mallard_boost_of_system} ${MALLARD_BOOST_PREFIX})
  if(include STREQUAL MALLARD_BOOST_PREFIX)
    string(APPEND include /usr/include)
  endif()
  file(STRINGS ${include}/boost/version.hpp line REGEX "define BOOST_VERSION ")
  string(REGEX REPLACE ".* ([0-9]+)[0-9][0-9]$" "\\1" version ${line})
  add_library(mallard_boost_${version} INTERFACE)
  target_include_directories(mallard_boost_${version} SYSTEM INTERFACE ${include})
  target_compile_definitions(mallard_boost_${version} INTERFACE MALLARD_BOOST=${version})
  list(APPEND mallard_boosts ${version})
endforeach()
