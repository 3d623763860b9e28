#include "llama/chat/template_allowance.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>

namespace llama_rt {

namespace {

/// Units of work, of which a processor of today does two in a nanosecond. What the templates that come with llama.cpp take
/// was measured, and the tenfold of the most is allowed. Before a conversation is written, its syntax is found by writing
/// dozens of small ones (27 million);
constexpr uint64_t kWork = 500'000'000;
/// some templates look at every message again for every message (12,500 for each pair);
constexpr uint64_t kWorkPerPair = 150'000;
/// texts are looked at again and again (170 for a byte);
constexpr uint64_t kWorkPerByte = 2'000;
/// and what a tool takes is written key by key (2.6 million for a small one, 2,200 for a byte of a long one).
constexpr uint64_t kWorkPerTool = 25'000'000;
constexpr uint64_t kWorkPerToolByte = 25'000;
/// Beyond as many messages, time has long ended the work.
constexpr size_t kPairedMessagesMax = 10'000;

/// Time on a processor, for the base of the work and for more of it, and the most that there is. A template that takes the
/// square of a conversation's length comes to some 1,500 messages with that.
constexpr int kTimeMs = 2'000;
constexpr uint64_t kWorkPerMs = 10'000'000;
constexpr uint64_t kTimeMsMax = 20'000;

/// Of the values of one run. A conversation takes thrice its length and 12 kB a message.
constexpr size_t kMemoryBytes = size_t{256} * 1024 * 1024;

size_t bytes_of(const ChatMessage& message) {
    size_t bytes = message.content.size() + message.reasoning.size() + message.name.size();
    for (const ContentPart& part : message.parts) bytes += part.text.size();
    for (const auto& [id, name, arguments] : message.tool_calls)
        bytes += id.size() + name.size() + arguments.size();
    return bytes;
}

uint64_t work_of(const Chat& chat) {
    const uint64_t messages = std::min(chat.messages.size(), kPairedMessagesMax);
    uint64_t work = kWork + messages * messages * kWorkPerPair + chat.tools.size() * kWorkPerTool;
    for (const ChatMessage& message : chat.messages) work += bytes_of(message) * kWorkPerByte;
    for (const auto& [name, value] : chat.template_arguments)
        work += (name.size() + value.size()) * kWorkPerByte;
    for (const auto& [name, description, parameters] : chat.tools)
        work += (name.size() + description.size() + parameters.size()) * kWorkPerToolByte;
    // With tools and a form it is written thrice: see prepare() in conversation.cpp.
    return !chat.tools.empty() && !chat.content_rules.empty() ? 3 * work : work;
}

} // namespace

jinja::work_allowance template_allowance(const Chat& chat, const std::atomic<bool>& is_aborted) {
    const uint64_t work = work_of(chat);
    return {.milliseconds = static_cast<int>(std::min(kTimeMs + work / kWorkPerMs, kTimeMsMax)),
            .units = work,
            .bytes = kMemoryBytes,
            .is_cancelled = &is_aborted};
}

} // namespace llama_rt
