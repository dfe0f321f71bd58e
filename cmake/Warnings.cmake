# Warnings for our own code; errors with -DFLITWISE_WERROR=ON (the presets dev, asan and coverage set it).
add_library(flitwise_warnings INTERFACE)
target_compile_options(flitwise_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  $<$<BOOL:${FLITWISE_WERROR}>:-Werror>)
