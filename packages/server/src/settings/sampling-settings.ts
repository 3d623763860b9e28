// Settings for how replies are generated where a request does not say: sampling, and the chat template.
import {
  generationOptions,
  optionNames,
  tokensMax,
  type GenerationOption,
  type OptionName,
  type OptionTable,
} from "@ingle/generation-options";
import { flagKinds, type Setting } from "./setting.ts";

const { text, integer, decimal, toggle } = flagKinds("INGLE_");

/** The options with a flag. */
type FlagName = {
  [Name in OptionName]: OptionTable[Name] extends { flag: string } ? Name : never;
}[OptionName];

type OptionSettings = {
  [Name in FlagName]: Setting & {
    readonly flag: OptionTable[Name]["flag"];
    readonly kind: OptionTable[Name]["kind"] extends "number" ? "decimal" : "integer";
  };
};

/** A setting for each option with a flag, by the option's name. */
function optionSettings(): OptionSettings {
  const settings = optionNames.flatMap((name) => {
    const option: GenerationOption = generationOptions[name];
    return option.flag === undefined ? [] : [[name, optionSetting(option, option.flag)]];
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type is computed from the table as the value is
  return Object.fromEntries(settings) as OptionSettings;
}

function optionSetting(option: GenerationOption, flag: string): Setting {
  const help = option.help.replace(/\.$/, "");
  if (option.kind === "seed") return integer(flag, help, { defaultText: "random" });
  if (option.kind === "limit") return integer(flag, help, { min: -1, defaultText: limitDefault });
  if (option.kind !== "number" && option.kind !== "integer") throw new Error(`${flag} is not a number.`);
  const { kind, above, max, default: usual, isPerVariant = false } = option;
  const min = option.min ?? (above === undefined ? undefined : above + leastAbove);
  const defaultText = isPerVariant ? "the variant's" : `the model's own, else ${usual}`;
  return (kind === "number" ? decimal : integer)(flag, help, { min, max, defaultText });
}

/** The step from a bound that is excluded to the first value that is taken. */
const leastAbove = 1e-6;

const limitDefault = "the API's own: mostly none";

/** Defaults of requests. Names and meanings are llama-server's. */
export const samplingSettings = {
  ...optionSettings(),
  thinkingDefault: integer(
    "--reasoning-budget <tokens>",
    "Most tokens that a model thinks before it replies; -1 means no limit",
    {
      min: -1,
      max: tokensMax,
      details: "A request says it with [`thinking_budget_tokens`](http-api.md#thinking).",
    },
  ),
  thinkingEnd: text(
    "--reasoning-budget-message <text>",
    "What a thought ends with that is ended by its limit",
  ),
  noModelSampling: toggle("--no-model-sampling", "Ignore the sampling that models' files recommend", {
    details: "See [sampling defaults](models.md#sampling).",
  }),
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
