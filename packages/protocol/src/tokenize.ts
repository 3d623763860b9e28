// The tokens of texts and requests: /v1/tokenize, /v1/detokenize, and the render routes of chats and completions. The fields of
// tokenizing have llama-server's names (`content`, `add_special`) and vLLM's (`prompt`, `add_special_tokens`); the render
// routes are those of vLLM's renderer, which routers ask for a prompt's tokens.
import { z } from "zod";

import { ChatMessages } from "./chat/messages.ts";
import { textField } from "./fields/content.ts";
import { flag, optionalField } from "./fields/optional-field.ts";
import { bodyRule, modelField } from "./fields/request-fields.ts";
import { refineContinuation, templateFields } from "./fields/template-fields.ts";
import { tokenIds, tokensMax } from "./fields/token-ids.ts";
import { refineTools, toolFields } from "./fields/tools.ts";

function text(name: string) {
  return optionalField(textField(name), { description: "The text to tokenize." });
}

const modelMeaning = "A model id from GET /v1/models; optional.";

const addSpecial = {
  description:
    "Adds the tokens that start (and end) a text for this model; both names are the same setting. For a text only.",
  default: true,
};

/** What to tokenize: a request has exactly one of these fields. */
const subjects = ["content", "prompt", "messages"] as const;

/** The body of `POST /v1/tokenize`. `null` means absent, and unknown fields are ignored. */
export const TokenizeRequest = z
  .looseObject(
    {
      model: optionalField(modelField, { description: modelMeaning }),
      content: text("content"),
      prompt: text("prompt"),
      messages: optionalField(ChatMessages, {
        description: "A conversation, tokenized like the prompt of a chat request.",
      }),
      ...toolFields,
      ...templateFields,
      add_generation_prompt: flag("add_generation_prompt", {
        description: "Must be what a chat request does: true, or false with continue_final_message.",
      }),
      add_special: flag("add_special", addSpecial),
      add_special_tokens: flag("add_special_tokens", addSpecial),
      parse_special: flag("parse_special", {
        description: "Parses special tokens in the text. For a text only.",
        default: true,
      }),
      with_pieces: flag("with_pieces", {
        description: "Returns each token as an object with its id and its text.",
        default: false,
      }),
    },
    bodyRule,
  )
  .superRefine((request, context) => {
    const given = subjects.filter((name) => request[name] !== undefined);
    if (given.length === 1) return;
    const message = `give ${given.length === 0 ? "one" : "only one"} of ${subjects.join(", ")}`;
    context.addIssue({ code: "custom", path: [given[1] ?? "content"], message });
  })
  .superRefine(({ add_special, add_special_tokens }, context) => {
    if (add_special === undefined || add_special_tokens === undefined || add_special === add_special_tokens)
      return;
    const message = "add_special_tokens and add_special are two names of one setting: give one of them";
    context.addIssue({ code: "custom", path: ["add_special_tokens"], message });
  })
  .superRefine(({ add_generation_prompt: adds, continue_final_message: continues }, context) => {
    if (adds === undefined || adds === (continues !== true)) return;
    const message = "add_generation_prompt must be true, or false with continue_final_message";
    context.addIssue({ code: "custom", path: ["add_generation_prompt"], message });
  })
  .superRefine(refineTools)
  .superRefine(({ messages = [], continue_final_message }, context) =>
    refineContinuation({ messages, continue_final_message }, context),
  )
  .meta({ id: "TokenizeRequest" });
/** A checked request. */
export type TokenizeRequest = z.infer<typeof TokenizeRequest>;
/** A request as clients write it: `null` means absent. */
export type TokenizeBody = z.input<typeof TokenizeRequest>;

/** A token and its text, or its bytes if it is a partial character. */
export const TokenPiece = z
  .object({ id: z.int(), piece: z.union([z.string(), z.array(z.int())]) })
  .meta({ id: "TokenPiece" });
export type TokenPiece = z.infer<typeof TokenPiece>;

/** The tokens of a text or a conversation. */
export const Tokenization = z
  .object({
    tokens: z
      .union([z.array(z.int()), z.array(TokenPiece)])
      .meta({ description: "Token ids in order; objects if with_pieces is true." }),
    count: z.int().meta({ description: "The number of tokens." }),
    max_model_len: z.int().meta({ description: "The most tokens of one request." }),
  })
  .meta({ id: "Tokenization" });
export type Tokenization = z.infer<typeof Tokenization>;

/** The body of `POST /v1/detokenize`. */
export const DetokenizeRequest = z
  .looseObject(
    {
      model: optionalField(modelField, { description: modelMeaning }),
      tokens: tokenIds(`tokens must be an array of at most ${tokensMax} token ids`, { min: 0 }),
    },
    bodyRule,
  )
  .meta({ id: "DetokenizeRequest" });
export type DetokenizeRequest = z.infer<typeof DetokenizeRequest>;
/** A request as clients write it. */
export type DetokenizeBody = z.input<typeof DetokenizeRequest>;

/** The text of token ids, including special tokens, under both names that clients read. */
export const Detokenization = z
  .object({
    content: z.string().meta({ description: "The text." }),
    prompt: z.string().meta({ description: "The same." }),
  })
  .meta({ id: "Detokenization" });
export type Detokenization = z.infer<typeof Detokenization>;

/** The tokens of one prompt of a chat or completion request, as `…/render` returns them. */
export const RenderedPrompt = z
  .object({
    request_id: z
      .string()
      .meta({ description: "An id of this rendering, the same for all prompts of a request." }),
    model: z.string().meta({ description: "The id of the model that has these tokens." }),
    token_ids: z.array(z.int()).meta({
      description: "Token ids in order, the same as in a completion of this body.",
    }),
  })
  .meta({ id: "RenderedPrompt" });
export type RenderedPrompt = z.infer<typeof RenderedPrompt>;

/** One for each prompt of the request, in their order. */
export const RenderedPrompts = z.array(RenderedPrompt).meta({ id: "RenderedPrompts" });
export type RenderedPrompts = z.infer<typeof RenderedPrompts>;
