# `cpack -G DEB` in the build folder: flitwise_VERSION_ARCHITECTURE.deb with all that is installed. What the program
# needs to run is found by dpkg-shlibdeps; what the library needs to be linked is suggested.
set(CPACK_PACKAGE_NAME flitwise)
set(CPACK_PACKAGE_CONTACT "The flitwise authors <flitwise@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Cycle-level simulator of PCIe and CXL root complexes and devices")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libsystemc-dev, libyaml-cpp-dev, nlohmann-json3-dev, libfmt-dev, libsqlite3-dev, zlib1g-dev, libssl-dev, libboost-dev")
include(CPack)
