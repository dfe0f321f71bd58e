// SPDX-License-Identifier: Apache-2.0
// What AddressSanitizer has to know about SystemC; without sanitizers nobody calls these functions.

// The stacks of SC_THREADs are not the ones that the sanitizer knows, so that its fake stacks
// crash.
extern "C" const char* __asan_default_options() {
  return "detect_stack_use_after_return=0:detect_leaks=1";
}

// What a live SC_THREAD owns at exit is reached from its own stack only, which nobody scans.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:sc_core::sc_thread_cor_fn\n";
}
