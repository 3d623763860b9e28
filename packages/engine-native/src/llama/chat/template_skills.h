// What a model's chat template can do, determined once when the model is loaded.
#pragma once

struct common_chat_templates;

namespace llama_rt {

struct TemplateSkills {
    /// Whether it renders the tools into the prompt.
    bool writes_tools = false;
    /// Whether it renders the assistant's earlier calls into the prompt.
    bool writes_tool_calls = false;
    /// Whether calls have LFM2's syntax, even if the template does not render them.
    bool is_lfm2 = false;
    /// Whether a grammar in its syntax can require either content in a given form or calls that match their tools' schemas.
    bool holds_form_or_calls = false;
};

/// Renders the template a few times. Does not throw what a template throws.
TemplateSkills skills_of(const common_chat_templates& templates);

} // namespace llama_rt
