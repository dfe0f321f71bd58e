# Profile-guided builds, which scripts/fast makes. FLITWISE_PGO=generate: each run of the program adds its counts to the
# folder FLITWISE_PROFILE; FLITWISE_PGO=use: the compiler goes by them. Objects have the same names in both build folders
# once those are taken off (-fprofile-prefix-path), and the profile goes by these names.
set(FLITWISE_PGO "" CACHE STRING "Profile-guided build: empty, generate or use")
set_property(CACHE FLITWISE_PGO PROPERTY STRINGS "" generate use)
set(FLITWISE_PROFILE "${CMAKE_BINARY_DIR}/profile" CACHE PATH "Folder of the profile")

if(FLITWISE_PGO AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  message(FATAL_ERROR "FLITWISE_PGO needs GCC, not ${CMAKE_CXX_COMPILER_ID}.")
endif()
if(FLITWISE_PGO STREQUAL "generate")
  add_compile_options(-fprofile-generate=${FLITWISE_PROFILE} -fprofile-update=single)
  add_link_options(-fprofile-generate)
elseif(FLITWISE_PGO STREQUAL "use")
  file(GLOB counts "${FLITWISE_PROFILE}/*.gcda")
  if(NOT counts)
    message(FATAL_ERROR "No profile in ${FLITWISE_PROFILE}; scripts/fast makes one.")
  endif()
  # Code that no training reached is optimised as without a profile. After an edit by hand some functions have none.
  add_compile_options(-fprofile-use=${FLITWISE_PROFILE} -fprofile-partial-training -Wno-missing-profile
    -Wno-error=coverage-mismatch)
  # At a fixed address, and libraries without stubs: 2 % fewer instructions a packet.
  add_compile_options(-fno-pie -fno-plt)
  add_link_options(-no-pie)
elseif(FLITWISE_PGO)
  message(FATAL_ERROR "FLITWISE_PGO is '${FLITWISE_PGO}'; expected nothing, generate or use.")
endif()
if(FLITWISE_PGO)
  add_compile_options(-fprofile-prefix-path=${CMAKE_BINARY_DIR})
endif()

# -ffp-contract=off: the figures of a simulation are the same on each processor, to the last bit.
set(FLITWISE_ARCH "" CACHE STRING "Processors to compile for, as -march names them; empty: all of this architecture")
if(FLITWISE_ARCH)
  add_compile_options(-march=${FLITWISE_ARCH} -ffp-contract=off)
endif()
if(FLITWISE_ARCH STREQUAL "x86-64-v3")                # packets are copied 32 bytes at a time: 1 % fewer instructions
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-mmove-max=256 FLITWISE_MOVES_32_BYTES)  # GCC 12
  if(FLITWISE_MOVES_32_BYTES)
    add_compile_options(-mmove-max=256 -mstore-max=256)
  endif()
endif()
