# SystemC::systemc from pkg-config (Debian ships no CMake package file).
flitwise_need(PkgConfig pkg-config)
set(SYSTEMC_FOUND FALSE)
if(PkgConfig_FOUND)
  pkg_check_modules(SYSTEMC QUIET IMPORTED_TARGET systemc)
endif()
if(NOT SYSTEMC_FOUND)
  list(APPEND FLITWISE_MISSING SystemC)
  list(APPEND FLITWISE_MISSING_DEBIAN libsystemc-dev)
endif()

# Links a small model with the project's C++ standard: SystemC puts the standard that it was built with
# into a symbol, so that any other one ends in an undefined reference.
function(flitwise_check_systemc)
  set(check FLITWISE_SYSTEMC_LINKS_CXX${CMAKE_CXX_STANDARD})
  set(CMAKE_REQUIRED_LIBRARIES PkgConfig::SYSTEMC)
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_compiles(
    "#include <systemc>\nint sc_main(int, char**) { sc_core::sc_start(); return 0; }" ${check})
  if(${check})
    return()
  endif()
  unset(${check} CACHE)  # tried again once something was installed
  if(CMAKE_CXX_STANDARD EQUAL 17)
    message(FATAL_ERROR "SystemC ${SYSTEMC_VERSION} does not link with C++17: it was built with another C++ standard, "
      "or is damaged. Debian 12's libsystemc-dev is built with C++17 and fits.")
  endif()
  message(FATAL_ERROR "SystemC ${SYSTEMC_VERSION} does not link with C++${CMAKE_CXX_STANDARD}: it was built with another "
    "C++ standard (Debian 12's libsystemc-dev: C++17). Leave CMAKE_CXX_STANDARD at 17, or build SystemC with C++${CMAKE_CXX_STANDARD}.")
endfunction()

if(SYSTEMC_FOUND)
  include(CheckCXXSourceCompiles)
  flitwise_check_systemc()
  add_library(SystemC::systemc INTERFACE IMPORTED GLOBAL)
  target_link_libraries(SystemC::systemc INTERFACE PkgConfig::SYSTEMC)
  target_compile_definitions(SystemC::systemc INTERFACE SC_INCLUDE_DYNAMIC_PROCESSES)
endif()
