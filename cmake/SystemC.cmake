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

# Or built with the program from the sources of Debian's package (scripts/fast), by the same profile and in one link:
# 2 to 10 % fewer instructions a packet. Without threads of its own, which no model here has, its coroutines are never used.
set(FLITWISE_SYSTEMC_SOURCE "" CACHE PATH "SystemC's sources, to be built with the program; empty: the installed library")

if(FLITWISE_SYSTEMC_SOURCE)
  set(source "${FLITWISE_SYSTEMC_SOURCE}/src")
  file(GLOB kernel_sources "${source}/sysc/*/*.cpp" "${source}/sysc/datatypes/*/*.cpp")
  file(GLOB_RECURSE tlm_sources "${source}/tlm_core/*.cpp" "${source}/tlm_utils/*.cpp")
  if(NOT kernel_sources)
    message(FATAL_ERROR "No src/sysc in FLITWISE_SYSTEMC_SOURCE, ${FLITWISE_SYSTEMC_SOURCE}.")
  endif()
  add_library(systemc_kernel STATIC ${kernel_sources} ${tlm_sources})
  target_include_directories(systemc_kernel SYSTEM PUBLIC ${source})
  target_compile_definitions(systemc_kernel PRIVATE SC_BUILD SC_INCLUDE_FX SC_USE_PTHREADS SC_DISABLE_COPYRIGHT_MESSAGE)
  target_compile_options(systemc_kernel PRIVATE -w)
  target_link_libraries(systemc_kernel PUBLIC Threads::Threads)
  set_target_properties(systemc_kernel PROPERTIES UNITY_BUILD OFF)
  add_library(SystemC::systemc INTERFACE IMPORTED GLOBAL)
  target_link_libraries(SystemC::systemc INTERFACE systemc_kernel)
  target_compile_definitions(SystemC::systemc INTERFACE SC_INCLUDE_DYNAMIC_PROCESSES)
elseif(SYSTEMC_FOUND)
  include(CheckCXXSourceCompiles)
  flitwise_check_systemc()
  add_library(SystemC::systemc INTERFACE IMPORTED GLOBAL)
  target_link_libraries(SystemC::systemc INTERFACE PkgConfig::SYSTEMC)
  target_compile_definitions(SystemC::systemc INTERFACE SC_INCLUDE_DYNAMIC_PROCESSES)
endif()
