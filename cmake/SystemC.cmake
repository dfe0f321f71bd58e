# SystemC::systemc from pkg-config (Debian ships no CMake package file), tried at once with the project's C++ standard.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SYSTEMC IMPORTED_TARGET systemc)
if(NOT SYSTEMC_FOUND)
  message(FATAL_ERROR "SystemC not found: pkg-config knows no package 'systemc'. "
    "Run scripts/setup, or on Debian 12: apt-get install libsystemc-dev pkg-config.")
endif()

add_library(SystemC::systemc INTERFACE IMPORTED GLOBAL)
target_link_libraries(SystemC::systemc INTERFACE PkgConfig::SYSTEMC)
target_compile_definitions(SystemC::systemc INTERFACE SC_INCLUDE_DYNAMIC_PROCESSES)

include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::SYSTEMC)
set(CMAKE_REQUIRED_FLAGS -std=c++${CMAKE_CXX_STANDARD})
check_cxx_source_compiles("#include <systemc>\nint sc_main(int, char**) { sc_core::sc_start(); return 0; }"
  FLITWISE_SYSTEMC_LINKS)
unset(CMAKE_REQUIRED_LIBRARIES)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT FLITWISE_SYSTEMC_LINKS)
  message(FATAL_ERROR "SystemC ${SYSTEMC_VERSION} does not link with C++${CMAKE_CXX_STANDARD}: the library was built "
    "with another C++ standard (Debian's libsystemc-dev 2.3.4 is built with C++17). "
    "Leave CMAKE_CXX_STANDARD at 17 or build SystemC with the standard you want.")
endif()
