// What a model's chat template can do, found once when the model is loaded. Used by Model.
#pragma once

struct common_chat_templates;

namespace llama_rt {

struct TemplateSkills {
    /// It writes the tools into the prompt.
    bool writes_tools = false;
    /// It writes an assistant's calls, so that the model sees what it asked for.
    bool writes_tool_calls = false;
    /// Calls look as LFM2 writes them, whether the template writes them or not.
    bool is_lfm2 = false;
    /// A reply in its syntax can be held to a form or to calls, and the calls to their tools.
    bool holds_form_or_calls = false;
};

/// Writes the template out a few times, and throws nothing that a template throws.
TemplateSkills skills_of(const common_chat_templates& templates);

} // namespace llama_rt
