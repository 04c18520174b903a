# Checks: programs that are run and must pass. CTest has each of them. The target `check` runs those that were built
# anew since they passed, beside what is still being compiled, and leaves checks/NAME.passed or checks/NAME.failed.

# mallard_check(NAME [FAILS_SAYING TEXT] COMMAND WORD...): the first word may be a target. With TEXT it is a control,
# which must fail and print TEXT.
function(mallard_check name)
  cmake_parse_arguments(PARSE_ARGV 1 check "" "FAILS_SAYING" "COMMAND")
  add_test(NAME ${name} COMMAND ${check_COMMAND})
  if(check_FAILS_SAYING)
    set_tests_properties(${name} PROPERTIES PASS_REGULAR_EXPRESSION ${check_FAILS_SAYING})
    set_property(GLOBAL PROPERTY mallard_check_${name}_control --fails-saying ${check_FAILS_SAYING})
  endif()
  list(POP_FRONT check_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  set_property(GLOBAL PROPERTY mallard_check_${name}_command ${program} ${check_COMMAND})
  set_property(GLOBAL APPEND PROPERTY mallard_checks ${name})
endfunction()

# What a command is run anew for: the targets and files it names, the libraries that those link, and what these and
# they are said to depend on; and the fixtures, which many tests read.
function(mallard_check_dependencies result)
  file(GLOB depends CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fixtures/*)
  foreach(word ${ARGN})
    if(word MATCHES "^(-D[A-Z]+=)?(/.+)$" OR word MATCHES "(TARGET_FILE):(.+)>$")
      set(word ${CMAKE_MATCH_2})
    endif()
    if(EXISTS ${word})
      list(APPEND depends ${word})
    elseif(TARGET ${word})
      get_target_property(libraries ${word} LINK_LIBRARIES)
      foreach(target ${word} ${libraries})
        if(TARGET ${target})
          get_target_property(others ${target} MANUALLY_ADDED_DEPENDENCIES)
          list(APPEND depends ${target} ${others})
        endif()
      endforeach()
    endif()
  endforeach()
  list(FILTER depends EXCLUDE REGEX "-NOTFOUND$")
  list(REMOVE_DUPLICATES depends)
  set(${result} ${depends} PARENT_SCOPE)
endfunction()

# mallard_check_target(): the target `check`, when all folders have named their checks.
function(mallard_check_target)
  get_property(names GLOBAL PROPERTY mallard_checks)
  add_custom_target(check)
  foreach(name ${names})
    get_property(command GLOBAL PROPERTY mallard_check_${name}_command)
    get_property(control GLOBAL PROPERTY mallard_check_${name}_control)
    mallard_check_dependencies(depends ${command})
    set(report ${PROJECT_BINARY_DIR}/checks/${name})
    cmake_path(GET report PARENT_PATH folder)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${report}.passed
      COMMAND ${PROJECT_SOURCE_DIR}/cmake/check.sh ${control} ${report} ${command}
      DEPENDS ${depends} COMMENT "Running ${name}" VERBATIM)
    string(REPLACE / . target check.${name})
    add_custom_target(${target} DEPENDS ${report}.passed)  # one each: a check waits for what it names, and no more
    add_dependencies(check ${target})
  endforeach()
endfunction()
