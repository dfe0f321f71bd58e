# Sources are compiled in batches, in a third of the time: most of it goes into headers. -DCMAKE_UNITY_BUILD=OFF compiles
# file by file. scripts/check_includes finds headers that lean on their neighbours' includes.
if(NOT DEFINED CMAKE_UNITY_BUILD)
  set(CMAKE_UNITY_BUILD ON CACHE BOOL "Compile sources in batches of a folder each")
endif()
if(NOT DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
endif()

# flitwise_batches(TARGET): batches of one folder each, so that a new file cannot move files of other folders
# beside each other; of about the same size, so that one file more is no batch of its own: what calls each other on
# the way of a packet is inlined within a batch alone. Names in unnamed namespaces have to differ within a folder, and
# no further. To be called after the last source of the target.
function(flitwise_batches target)
  get_target_property(sources ${target} SOURCES)
  set(folders "")
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" ABSOLUTE)
    get_filename_component(folder "${folder}" DIRECTORY)
    file(RELATIVE_PATH folder "${CMAKE_SOURCE_DIR}" "${folder}")
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    list(APPEND folders ${folder})
    list(APPEND sources_${folder} "${source}")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    list(LENGTH sources_${folder} count)
    math(EXPR batches "(${count} + ${CMAKE_UNITY_BUILD_BATCH_SIZE} / 2) / ${CMAKE_UNITY_BUILD_BATCH_SIZE}")
    set(position 0)
    foreach(source IN LISTS sources_${folder})
      math(EXPR batch "${position} * ${batches} / ${count}")
      math(EXPR position "${position} + 1")
      set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${folder}_${batch})
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()
