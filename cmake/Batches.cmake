# Sources are compiled in batches, in a fourth of the time: most of it goes into headers. -DCMAKE_UNITY_BUILD=OFF compiles
# file by file. scripts/check_includes finds headers that lean on their neighbours' includes.
if(NOT DEFINED CMAKE_UNITY_BUILD)
  set(CMAKE_UNITY_BUILD ON CACHE BOOL "Compile sources in batches")
endif()
if(NOT DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
endif()

# flitwise_batches(TARGET): batches of whole folders, neighbours together until there are enough sources, so that most
# headers are read a dozen times and not forty; what calls each other on the way of a packet, mostly within a folder, is
# inlined within a batch alone. Names in unnamed namespaces have to differ within a target.
# To be called after the last source of the target.
function(flitwise_batches target)
  get_target_property(sources ${target} SOURCES)
  set(batch 0)
  set(count 0)
  set(before "")
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" DIRECTORY)
    if(NOT folder STREQUAL before AND count GREATER_EQUAL ${CMAKE_UNITY_BUILD_BATCH_SIZE})
      math(EXPR batch "${batch} + 1")
      set(count 0)
    endif()
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${target}_${batch})
    math(EXPR count "${count} + 1")
    set(before "${folder}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()
