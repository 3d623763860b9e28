// What a model's chat template may take of a worker thread, and of memory: it comes out of a file that a stranger made.
// Used where templates are read (model.cpp) and where conversations are written out (conversation.cpp).
#pragma once

#include "llama/chat/conversation.h"

#include <atomic>

#include "chat.h"

namespace llama_rt {

/// For writing out a conversation; with an empty one, for reading the template, which writes small ones. What templates that
/// are known take is a tenth at most; more messages, tools and text are allowed more work and more time. Memory and, from
/// some thousand messages on, time do not grow. The flag must live as long as the limit that is made of this.
jinja::work_allowance template_allowance(const Chat& chat, const std::atomic<bool>& is_aborted);

} // namespace llama_rt
