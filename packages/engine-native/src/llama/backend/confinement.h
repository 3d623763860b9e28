// Drops the rights of this process that an engine does not need, so that a bug in code that reads untrusted files can do less harm.
#pragma once

namespace llama_rt {

/// Permanent, for all threads. Call it once the engine has started: by then, GPU drivers have opened what they need. Returns whether the
/// rights were dropped; only Linux supports this.
bool confine_process();

} // namespace llama_rt
