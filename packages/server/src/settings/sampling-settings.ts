// Settings for how replies are generated where a request does not say: sampling, and the chat template.
import { flagKinds } from "./setting.ts";

const { text, integer, decimal, toggle } = flagKinds("INGLE_");

/** Defaults of requests. Names and meanings are llama-server's. */
export const samplingSettings = {
  temperature: decimal("--temp <number>", "Temperature of requests that set none; 0 is deterministic", {
    min: 0,
    defaultText: "the model's own, else 1",
    details: "See [sampling defaults](models.md#sampling).",
  }),
  /** Not `topK`, which a variant has: that would be the default. */
  topKSet: integer(
    "--top-k <number>",
    "Sample from the k likeliest tokens, in requests that set none; 0 keeps all",
    {
      min: -1,
      defaultText: "the variant's",
    },
  ),
  topP: decimal(
    "--top-p <number>",
    "Sample from the likeliest tokens whose probabilities add up to this, in requests that set none",
    { min: 1e-6, max: 1, defaultText: "the model's own, else 1" },
  ),
  minP: decimal(
    "--min-p <number>",
    "Drop tokens below this fraction of the likeliest one's probability, in requests that set none",
    { min: 0, max: 1, defaultText: "the model's own, else 0" },
  ),
  seed: integer("--seed <number>", "Seed of requests that set none", { defaultText: "random" }),
  maxTokens: integer(
    "-n, --predict <tokens>",
    "Maximum tokens of replies to requests that set none; -1 for no limit",
    {
      min: -1,
      defaultText: "the API's own: mostly none",
    },
  ),
  noModelSampling: toggle("--no-model-sampling", "Ignore the sampling that models' files recommend"),
};

export const templateSettings = {
  chatTemplate: text(
    "--chat-template <template>",
    "Chat template in Jinja, in place of the model's own; or chatml",
    {
      rule: (rules) => rules.chatTemplate,
      defaultText: "the model's own",
      details:
        "It applies to every model that the server loads, and has the [limits](http-api.md#limits) of models' own templates.",
    },
  ),
  chatTemplateFile: text("--chat-template-file <file>", "File with such a template", {
    defaultText: "the model's own",
  }),
  reasoning: text("--reasoning <mode>", "Whether models reason in chats that do not say", {
    choices: ["on", "off", "auto"],
    default: "auto",
    details:
      "With `auto` and `on`, models reason if they can. A request says it with [`reasoning_effort`](http-api.md#thinking) or in its API's way.",
  }),
  specialTokensInContent: toggle(
    "--special-tokens-in-content",
    "Read special tokens that are spelled in messages, such as <|im_end|>, as these tokens",
    {
      details:
        "Without it, only [the chat template](http-api.md#special-tokens-in-messages) can write them. llama-server always reads them.",
    },
  ),
};
