# The C++ unit tests of base, sched and engine/text_stream: one program, run by vitest (test/cpp.test.ts).
