# What `cmake --install` and `cpack` give: the program with its configurations, cases and pages, and the library with
# headers, a CMake package (find_package(flitwise), target flitwise::flitwise) and a pkg-config file. docs/library.md
include(CMakePackageConfigHelpers)

install(TARGETS flitwise RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/flitwise)
install(DIRECTORY tests/cases DESTINATION ${CMAKE_INSTALL_DATADIR}/flitwise)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/share)
  install(DIRECTORY share/ DESTINATION ${CMAKE_INSTALL_DATADIR}/flitwise)
endif()

if(NOT FLITWISE_LIBRARY)
  return()
endif()

# One archive of everything but the command line; what it is linked with is what its parts are.
add_library(flitwise_library STATIC $<TARGET_OBJECTS:flitwise_core> $<TARGET_OBJECTS:flitwise_aside>
  $<TARGET_OBJECTS:flitwise_models> $<TARGET_OBJECTS:flitwise_system>)
set_target_properties(flitwise_library PROPERTIES OUTPUT_NAME flitwise EXPORT_NAME flitwise LINKER_LANGUAGE CXX)
set(needs "")
foreach(part flitwise_core flitwise_aside flitwise_models flitwise_system)
  get_target_property(of_part ${part} LINK_LIBRARIES)
  list(APPEND needs ${of_part})
endforeach()
list(FILTER needs EXCLUDE REGEX "^flitwise_")
list(REMOVE_DUPLICATES needs)
target_link_libraries(flitwise_library PUBLIC ${needs})
target_compile_features(flitwise_library PUBLIC cxx_std_17)
target_include_directories(flitwise_library PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
if(CMAKE_INTERPROCEDURAL_OPTIMIZATION)                # its machine code alone: any compiler links that, and fast
  add_custom_command(TARGET flitwise_library POST_BUILD VERBATIM COMMAND ${CMAKE_STRIP} --strip-debug
    --remove-section=.gnu.lto_* --remove-section=.gnu.debuglto_* --strip-symbol=__gnu_lto_v1
    $<TARGET_FILE:flitwise_library>)
endif()

set(flitwise_package ${CMAKE_INSTALL_LIBDIR}/cmake/flitwise)
file(RELATIVE_PATH flitwise_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/version.h.in generated/package/version.h @ONLY)
configure_file(cmake/flitwise.pc.in generated/package/flitwise.pc @ONLY)
configure_package_config_file(cmake/flitwiseConfig.cmake.in generated/package/flitwiseConfig.cmake
  INSTALL_DESTINATION ${flitwise_package})
write_basic_package_version_file(generated/package/flitwiseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
set(package ${CMAKE_CURRENT_BINARY_DIR}/generated/package)
install(TARGETS flitwise_library EXPORT flitwiseTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT flitwiseTargets NAMESPACE flitwise:: DESTINATION ${flitwise_package})
install(FILES ${package}/flitwiseConfig.cmake ${package}/flitwiseConfigVersion.cmake DESTINATION ${flitwise_package})
install(DIRECTORY include/flitwise DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${package}/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/flitwise)
install(FILES ${package}/flitwise.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
