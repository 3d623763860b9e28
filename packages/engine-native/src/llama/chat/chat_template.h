// A model's chat template, which comes from an untrusted file: what it can do, and how much time and memory it may take.
#pragma once

#include "base/fields.h"
#include "llama/chat/tool_arguments.h"

#include <atomic>
#include <string>

struct common_chat_templates;

namespace jinja {
struct work_allowance;
}

namespace llama {

struct Chat;

struct TemplateSkills {
    /// The template itself, or the default one of a file without any.
    std::string source = {};
    /// Whether it renders the tools into the prompt.
    bool writes_tools = false;
    /// Whether it renders the assistant's earlier calls into the prompt.
    bool writes_tool_calls = false;
    /// Whether it renders system messages that are not the first message, and the first one beside them.
    bool writes_later_system = false;
    /// Whether it raises an error where a user's message follows a user's, an assistant's an assistant's, or a user's a tool's
    /// result.
    bool refuses_user_after_user = false;
    bool refuses_assistant_after_assistant = false;
    bool refuses_user_after_result = false;
    /// Whether calls have LFM2's syntax, even if the template does not render them.
    bool is_lfm2 = false;
    /// Whether it renders tools with parameters that may be null: `"type": ["string", "null"]`.
    bool writes_null_types = false;
    /// Whether a grammar in its syntax can require either content in a given form or calls that match their tools' schemas.
    bool holds_form_or_calls = false;
    /// How its calls write arguments.
    ArgumentSkills arguments = {};
};

constexpr auto fields_of(const TemplateSkills*) {
    return base::rows(
        base::field("source", &TemplateSkills::source),
        base::field("writesTools", &TemplateSkills::writes_tools),
        base::field("writesToolCalls", &TemplateSkills::writes_tool_calls),
        base::field("writesLaterSystem", &TemplateSkills::writes_later_system),
        base::field("refusesUserAfterUser", &TemplateSkills::refuses_user_after_user),
        base::field("refusesAssistantAfterAssistant", &TemplateSkills::refuses_assistant_after_assistant),
        base::field("refusesUserAfterResult", &TemplateSkills::refuses_user_after_result),
        base::field("isLfm2", &TemplateSkills::is_lfm2),
        base::field("writesNullTypes", &TemplateSkills::writes_null_types),
        base::field("holdsFormOrCalls", &TemplateSkills::holds_form_or_calls),
        base::field("arguments", &TemplateSkills::arguments));
}

/// Determined once when the model is loaded. Renders the template a few times. Does not throw what a template throws.
TemplateSkills skills_of(const common_chat_templates& templates);

/// The limits for rendering a conversation, or, with an empty one, for parsing the template, which renders small ones. Known
/// templates need a tenth of them at most. Work and time grow with messages, tools and text; time is capped at 20 seconds, and
/// memory is fixed. `is_aborted` must outlive the limit that is made from this.
jinja::work_allowance template_allowance(const Chat& chat, const std::atomic<bool>& is_aborted);

} // namespace llama
