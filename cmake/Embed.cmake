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
