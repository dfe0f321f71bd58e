# Carries the published size distributions inside the library, so that their names work from any
# directory. Writes one .cpp at configure time; touching a table configures again.
file(GLOB distribution_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/configs/data/sizes/*.csv)
set(distribution_entries "")
foreach(distribution_file IN LISTS distribution_files)
  get_filename_component(distribution_name ${distribution_file} NAME_WE)
  file(READ ${distribution_file} distribution_text)
  string(APPEND distribution_entries "    {\"${distribution_name}\", R\"csv(${distribution_text})csv\"},\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${distribution_file})
endforeach()
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/shipped_distributions.cpp.in
  ${CMAKE_CURRENT_BINARY_DIR}/generated/shipped_distributions.cpp @ONLY)
