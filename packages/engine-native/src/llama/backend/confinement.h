// Takes rights from this process that an engine does not need, so that a fault in code that reads foreign files can do less.
#pragma once

namespace llama_rt {

/// For good, and for all threads. Call it when the engine has started: GPU drivers have opened then what they need. Returns whether the
/// system has taken the rights; only Linux can.
bool confine_process();

} // namespace llama_rt
