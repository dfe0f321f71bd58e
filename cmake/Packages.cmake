# One plain message for all missing packages instead of CMake's own long one for the first.
set(FLITWISE_MISSING "")
set(FLITWISE_MISSING_DEBIAN "")

# flitwise_need(PACKAGE DEBIAN_PACKAGE): find_package that notes what is missing and goes on. A macro,
# because some find modules leave plain variables behind.
macro(flitwise_need package debian)
  find_package(${package} QUIET ${ARGN})
  if(NOT ${package}_FOUND)
    list(APPEND FLITWISE_MISSING ${package})
    list(APPEND FLITWISE_MISSING_DEBIAN ${debian})
  endif()
endmacro()

# Ends the configuration if anything was missing.
function(flitwise_report_missing)
  if(FLITWISE_MISSING)
    list(JOIN FLITWISE_MISSING ", " names)
    list(JOIN FLITWISE_MISSING_DEBIAN " " packages)
    message(FATAL_ERROR "Not found: ${names}. Run scripts/setup, or on Debian 12: apt-get install ${packages}")
  endif()
endfunction()
