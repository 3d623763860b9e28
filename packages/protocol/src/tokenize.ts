// Texts to tokens and back: the requests and answers of /v1/tokenize and /v1/detokenize. Their fields have the names that
// llama-server's clients know (`content`, `add_special`) and those that vLLM's know (`prompt`, `add_special_tokens`).
import { z } from "zod";

import { optionalField } from "./absent.ts";
import { ChatMessages, textLengthMax } from "./messages.ts";
import { tokenIds, tokensMax } from "./prompts.ts";
import { flag, modelField } from "./request-fields.ts";
import { refineContinuation, thinkingFields } from "./thinking.ts";
import { refineTools, toolFields } from "./tools.ts";

function text(name: string) {
  const rule = `${name} must be a string of at most ${textLengthMax} characters`;
  return optionalField(z.string(rule).max(textLengthMax, rule), { description: "A text to be tokenized." });
}

const modelMeaning = "An id of GET /v1/models; may be left out.";

const addSpecial = {
  description:
    "Adds the tokens that the model begins (and ends) texts with; two names of one setting. For a text only.",
  default: true,
};

/** The fields of which a request has one: what is to be tokenized. */
const subjects = ["content", "prompt", "messages"] as const;

/** The body of `POST /v1/tokenize`. `null` means absent and unknown fields are ignored. */
export const TokenizeRequest = z
  .looseObject(
    {
      model: optionalField(modelField, { description: modelMeaning }),
      content: text("content"),
      prompt: text("prompt"),
      messages: optionalField(ChatMessages, {
        description: "A conversation: the tokens are those that a chat request would be computed from.",
      }),
      ...toolFields,
      ...thinkingFields,
      add_generation_prompt: flag("add_generation_prompt", {
        description:
          "Accepted where it is what a chat request does: true, or with continue_final_message false.",
      }),
      add_special: flag("add_special", addSpecial),
      add_special_tokens: flag("add_special_tokens", addSpecial),
      parse_special: flag("parse_special", {
        description: "Reads special tokens that a text spells out as such. For a text only.",
        default: true,
      }),
      with_pieces: flag("with_pieces", {
        description: "Makes each of the tokens an object with its id and its text.",
        default: false,
      }),
    },
    "the body must be a JSON object",
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
    const message = "add_generation_prompt must be true, or with continue_final_message false";
    context.addIssue({ code: "custom", path: ["add_generation_prompt"], message });
  })
  .superRefine(refineTools)
  .superRefine(({ messages = [], continue_final_message }, context) =>
    refineContinuation({ messages, continue_final_message }, context),
  )
  .meta({ id: "TokenizeRequest" });
/** A checked request. */
export type TokenizeRequest = z.infer<typeof TokenizeRequest>;
/** A request as a client may write it: with `null` for absent. */
export type TokenizeBody = z.input<typeof TokenizeRequest>;

/** A token and its text; the bytes of one that is a part of a character. */
export const TokenPiece = z
  .object({ id: z.int(), piece: z.union([z.string(), z.array(z.int())]) })
  .meta({ id: "TokenPiece" });
export type TokenPiece = z.infer<typeof TokenPiece>;

/** What a text or a conversation is to the model. */
export const Tokenization = z
  .object({
    tokens: z
      .union([z.array(z.int()), z.array(TokenPiece)])
      .meta({ description: "Token ids in order; objects on with_pieces." }),
    count: z.int().meta({ description: "How many they are." }),
    max_model_len: z.int().meta({ description: "Tokens that one request may hold." }),
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
    "the body must be a JSON object",
  )
  .meta({ id: "DetokenizeRequest" });
export type DetokenizeRequest = z.infer<typeof DetokenizeRequest>;
/** A request as a client may write it. */
export type DetokenizeBody = z.input<typeof DetokenizeRequest>;

/** The text of token ids, special ones written out; under both names that clients look for. */
export const Detokenization = z
  .object({
    content: z.string().meta({ description: "The text." }),
    prompt: z.string().meta({ description: "The same." }),
  })
  .meta({ id: "Detokenization" });
export type Detokenization = z.infer<typeof Detokenization>;
