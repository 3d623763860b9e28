// Calls a function on every thread of this process, for system calls that concern only the thread that makes them. Linux only.
#pragma once

namespace llama_rt {

/// Interrupts each other thread for one call of `function`, which must be async-signal-safe and returns whether it succeeded. Threads
/// that start meanwhile are called too, unless a thread that was called has started them. Returns whether all calls succeeded; a
/// thread that does not respond within a second counts as failed. Not reentrant.
bool on_every_thread(bool (*function)());

} // namespace llama_rt
