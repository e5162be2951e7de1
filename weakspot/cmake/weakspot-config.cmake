# weakspot for CMake projects: tests of ctest that explore programs.
#
#   find_package(weakspot REQUIRED)          with -Dweakspot_DIR=$(weakspot --cmake-dir)
#   weakspot_add_test(NAME push_pop SOURCES tests/push_pop.cpp MODELS rc20 tso
#                     LINK_LIBRARIES queue)
#
# Each source is a program with a main. It is read with the include folders, definitions, options and
# the standard that it would have if it were built and linked with LINK_LIBRARIES; it is not built.
# OPTIONS are further options of `weakspot check`, such as `--seconds 1m`. The test fails if a program
# is violated (exit code 1), cannot be read (2), or if a limit was reached (3).

cmake_minimum_required(VERSION 3.20)

find_program(WEAKSPOT_EXECUTABLE weakspot
  HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../../../bin"
  DOC "The weakspot program")
if(NOT WEAKSPOT_EXECUTABLE)
  set(weakspot_FOUND FALSE)
  set(weakspot_NOT_FOUND_MESSAGE "no program weakspot in PATH; name it in WEAKSPOT_EXECUTABLE")
  return()
endif()

function(weakspot_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;MODELS;LINK_LIBRARIES;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weakspot_add_test: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_NAME OR NOT arg_SOURCES)
    message(FATAL_ERROR "weakspot_add_test: NAME and SOURCES are required")
  endif()

  # a target that is never built holds the options that the sources would be compiled with
  set(target "weakspot-${arg_NAME}")
  add_library("${target}" OBJECT EXCLUDE_FROM_ALL ${arg_SOURCES})
  target_link_libraries("${target}" PRIVATE ${arg_LINK_LIBRARIES})

  set(command "${WEAKSPOT_EXECUTABLE}" check ${arg_SOURCES} ${arg_OPTIONS})
  if(arg_MODELS)
    list(JOIN arg_MODELS "," models)
    list(APPEND command --model "${models}")
  endif()
  foreach(language C CXX)
    set(number "$<TARGET_PROPERTY:${target},${language}_STANDARD>")
    string(TOLOWER "${language}" name)
    string(REPLACE "cxx" "c++" name "${name}")
    set(of_language ${arg_SOURCES})
    if(language STREQUAL "C")
      list(FILTER of_language INCLUDE REGEX "\\.c$")
    else()
      list(FILTER of_language EXCLUDE REGEX "\\.c$")
    endif()
    if(of_language)
      list(APPEND command "$<$<BOOL:${number}>:--std=${name}${number}>")
    endif()
  endforeach()
  set(folders "$<REMOVE_DUPLICATES:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>>")
  set(macros "$<REMOVE_DUPLICATES:$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>>")
  set(options "$<TARGET_PROPERTY:${target},COMPILE_OPTIONS>")
  add_test(NAME "${arg_NAME}" COMMAND ${command} --
    "$<$<BOOL:${folders}>:-I$<JOIN:${folders},;-I>>"
    "$<$<BOOL:${macros}>:-D$<JOIN:${macros},;-D>>"
    "${options}"
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" COMMAND_EXPAND_LISTS)
endfunction()
