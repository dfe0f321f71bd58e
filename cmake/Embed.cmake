# flitwise_embed(TARGET FUNCTION FILE): compiles a text file into the target as `const char* flitwise::embedded::FUNCTION()`.
function(flitwise_embed target function file)
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/embedded/${function}.cpp")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  file(READ "${source}" text)
  file(CONFIGURE OUTPUT "${generated}" @ONLY CONTENT
    "// Made from @file@ at configure time.\nnamespace flitwise::embedded {\nconst char* @function@();\nconst char* @function@() {\n  return R\"embedded(@text@)embedded\";\n}\n}  // namespace flitwise::embedded\n")
  target_sources(${target} PRIVATE "${generated}")
endfunction()

# flitwise_embed_all(TARGET FUNCTION PATTERN): all files that match, as `flitwise::embedded::FUNCTION()`; a new file is no
# edit. Their names are without folder and extension.
function(flitwise_embed_all target function pattern)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${pattern}")
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/embedded/${function}.cpp")
  set(entries "")
  foreach(source IN LISTS sources)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    get_filename_component(name "${source}" NAME_WE)
    file(READ "${source}" text)
    string(APPEND entries "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT "${generated}" @ONLY CONTENT
    "// Made from @pattern@ at configure time.\n#include \"common/embedded.h\"\n\nnamespace flitwise::embedded {\nconst std::vector<NamedText>& @function@() {\n  static const std::vector<NamedText> all = {\n@entries@  };\n  return all;\n}\n}  // namespace flitwise::embedded\n")
  target_sources(${target} PRIVATE "${generated}")
endfunction()

# flitwise_embed_build(TARGET): how the program was built, as `flitwise::embedded::build()`.
function(flitwise_embed_build target)
  set(profile "none")
  if(FLITWISE_PGO STREQUAL "generate")
    set(profile "being made")
  elseif(FLITWISE_PGO STREQUAL "use")
    set(profile "used")
  endif()
  set(build "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, $<CONFIG>")
  string(APPEND build ", link-time optimisation $<IF:$<BOOL:${CMAKE_INTERPROCEDURAL_OPTIMIZATION}>,on,off>")
  string(APPEND build ", profile ${profile}")
  string(APPEND build ", for $<IF:$<BOOL:${FLITWISE_ARCH}>,${FLITWISE_ARCH},any ${CMAKE_SYSTEM_PROCESSOR}>")
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/embedded/build.cpp")
  file(GENERATE OUTPUT "${generated}" CONTENT
    "// Made at configure time.\n#include \"common/embedded.h\"\n\nconst char* flitwise::embedded::build() {\n  return \"${build}\";\n}\n")
  target_sources(${target} PRIVATE "${generated}")
endfunction()

# flitwise_embed_files(TARGET FUNCTION FILE...): the bytes of files, one behind the other with a line break between, as
# `std::string_view flitwise::embedded::FUNCTION()`. The assembler includes them, so that no compiler reads them.
function(flitwise_embed_files target function)
  set(includes "")
  set(sources "")
  foreach(file IN LISTS ARGN)
    list(APPEND sources "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
    string(APPEND includes "  .incbin \"${CMAKE_CURRENT_SOURCE_DIR}/${file}\"\n  .byte 10\n")
  endforeach()
  set(bytes "${CMAKE_CURRENT_BINARY_DIR}/embedded/${function}_bytes.S")
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/embedded/${function}.cpp")
  file(CONFIGURE OUTPUT "${bytes}" @ONLY CONTENT
    "  .section .rodata\n  .global flitwise_@function@_begin\n  .global flitwise_@function@_end\nflitwise_@function@_begin:\n@includes@flitwise_@function@_end:\n  .byte 0\n  .section .note.GNU-stack,\"\",%progbits\n")
  file(CONFIGURE OUTPUT "${generated}" @ONLY CONTENT
    "// Made at configure time.\n#include \"common/embedded.h\"\n\nextern \"C\" const char flitwise_@function@_begin[], flitwise_@function@_end[];\n\nstd::string_view flitwise::embedded::@function@() {\n  return {flitwise_@function@_begin, static_cast<std::size_t>(flitwise_@function@_end - flitwise_@function@_begin)};\n}\n")
  set_source_files_properties("${bytes}" PROPERTIES OBJECT_DEPENDS "${sources}")
  target_sources(${target} PRIVATE "${bytes}" "${generated}")
endfunction()
