// Limits on the time and memory that a model's chat template may take: it comes from an untrusted file.
#pragma once

#include "llama/chat/conversation.h"

#include <atomic>

#include "chat.h"

namespace llama_rt {

/// The limits for rendering a conversation, or, with an empty one, for parsing the template, which renders small ones. Known
/// templates need a tenth of them at most. Work and time grow with messages, tools and text; time is capped at 20 seconds, and
/// memory is fixed. `is_aborted` must outlive the limit that is made from this.
jinja::work_allowance template_allowance(const Chat& chat, const std::atomic<bool>& is_aborted);

} // namespace llama_rt
