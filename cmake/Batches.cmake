# Sources are compiled in batches, in a fourth of the time: most of it goes into headers. -DCMAKE_UNITY_BUILD=OFF compiles
# file by file. scripts/check_includes finds headers that lean on their neighbours' includes.
if(NOT DEFINED CMAKE_UNITY_BUILD)
  set(CMAKE_UNITY_BUILD ON CACHE BOOL "Compile sources in batches")
endif()
if(NOT DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 20)
endif()

# Small folders that share a batch, so that most headers are read a dozen times and not forty; each other folder has its
# own. Names in unnamed namespaces have to differ within a batch. What calls each other on the way of a packet, mostly
# within a folder, is inlined within a batch alone.
set(flitwise_neighbours
  "src/ats src/codec"
  "src/coherence src/common"
  "src/config_space src/cxl"
  "src/dhi src/iommu"
  "src/monitor src/routing"
  "src/compare src/report src/results src/trace_summary"
  "src/script src/topology"
  "src/stats src/tlp src/trace"
  "models/common models/cxl models/endpoint"
  "models/fabric models/software models/system"
  "models/iommu models/link models/memory models/root_complex models/switch"
  "models/script models/watch")

# flitwise_batches(TARGET): to be called after the last source of the target. A batch of more than
# CMAKE_UNITY_BUILD_BATCH_SIZE sources is cut into equal parts.
function(flitwise_batches target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "^\\$<")
  set(batches "")
  foreach(source IN LISTS sources)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} "${source}")
    string(REGEX MATCH "^(src|models)/[^/]+" folder "${folder}")   # nothing: generated
    set(batch "${folder}")
    foreach(neighbours IN LISTS flitwise_neighbours)
      if(" ${neighbours} " MATCHES " ${folder} ")
        string(REGEX MATCH "^[^ ]+" batch "${neighbours}")
      endif()
    endforeach()
    string(MAKE_C_IDENTIFIER ${target}_${batch} batch)
    list(APPEND batches ${batch})
    list(APPEND sources_of_${batch} ${source})
  endforeach()
  list(REMOVE_DUPLICATES batches)
  foreach(batch IN LISTS batches)
    list(LENGTH sources_of_${batch} count)
    math(EXPR parts "(${count} + ${CMAKE_UNITY_BUILD_BATCH_SIZE} - 1) / ${CMAKE_UNITY_BUILD_BATCH_SIZE}")
    set(at 0)
    foreach(source IN LISTS sources_of_${batch})
      math(EXPR part "${at} * ${parts} / ${count}")
      set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${batch}_${part})
      math(EXPR at "${at} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()
