// The tokens of texts and requests: /v1/tokenize, /v1/detokenize, and the render routes of chats and completions. The fields of
// tokenizing have llama-server's names (`content`, `add_special`) and vLLM's (`prompt`, `add_special_tokens`); the render
// routes are those of vLLM's renderer, which routers ask for a prompt's tokens.
import { z } from "zod";

import { ChatMessages } from "./chat/messages.ts";
import { textField } from "./fields/content.ts";
import { flag, optionalField, responseObject, refuseField } from "./fields/field.ts";
import { bodyRule, modelField } from "./fields/request-fields.ts";
import { refineContinuation, templateFields } from "./fields/template-fields.ts";
import { tokenIds, tokensMax } from "./fields/size-precheck.ts";
import { refineTools, toolFields } from "./fields/tools.ts";

function text(name: string) {
  return optionalField(textField(name), "The text to tokenize.");
}

const modelMeaning = "A model id from GET /v1/models; optional.";

const addSpecial =
  "Adds the tokens that start (and end) a text for this model; both names are the same setting. For a text only.";

/** What to tokenize: a request has exactly one of these fields. */
const subjects = ["content", "prompt", "messages"] as const;

/** The body of `POST /v1/tokenize`. `null` means absent, and unknown fields are ignored. */
export const TokenizeRequest = z
  .looseObject(
    {
      model: optionalField(modelField, modelMeaning),
      content: text("content"),
      prompt: text("prompt"),
      messages: optionalField(ChatMessages, "A conversation, tokenized like the prompt of a chat request."),
      ...toolFields,
      ...templateFields,
      add_generation_prompt: flag(
        "add_generation_prompt",
        "Must be what a chat request does: true, or false with continue_final_message.",
      ),
      add_special: flag("add_special", addSpecial, true),
      add_special_tokens: flag("add_special_tokens", addSpecial, true),
      parse_special: flag("parse_special", "Parses special tokens in the text. For a text only.", true),
      with_pieces: flag("with_pieces", "Returns each token as an object with its id and its text.", false),
    },
    bodyRule,
  )
  .superRefine((request, context) => {
    const { add_special, add_special_tokens, add_generation_prompt: adds, continue_final_message } = request;
    const given = subjects.filter((name) => request[name] !== undefined);
    const most = given.length === 0 ? "one" : "only one";
    if (given.length !== 1)
      refuseField(context, given[1] ?? "content", `give ${most} of ${subjects.join(", ")}`);
    const hasBoth = add_special !== undefined && add_special_tokens !== undefined;
    if (hasBoth && add_special !== add_special_tokens)
      refuseField(
        context,
        "add_special_tokens",
        "add_special_tokens and add_special are two names of one setting: give one of them",
      );
    if (adds !== undefined && adds !== (continue_final_message !== true))
      refuseField(
        context,
        "add_generation_prompt",
        "add_generation_prompt must be true, or false with continue_final_message",
      );
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
export const TokenPiece = responseObject("TokenPiece", {
  id: z.int(),
  piece: z.union([z.string(), z.array(z.int())]),
});
export type TokenPiece = z.infer<typeof TokenPiece>;

/** The tokens of a text or a conversation. */
export const Tokenization = responseObject("Tokenization", {
  tokens: z
    .union([z.array(z.int()), z.array(TokenPiece)])
    .describe("Token ids in order; objects if with_pieces is true."),
  count: z.int().describe("The number of tokens."),
  max_model_len: z.int().describe("Maximum number of tokens per request."),
});
export type Tokenization = z.infer<typeof Tokenization>;

/** The body of `POST /v1/detokenize`. */
export const DetokenizeRequest = z
  .looseObject(
    {
      model: optionalField(modelField, modelMeaning),
      tokens: tokenIds(`tokens must be an array of at most ${tokensMax} token ids`, { min: 0 }),
    },
    bodyRule,
  )
  .meta({ id: "DetokenizeRequest" });
export type DetokenizeRequest = z.infer<typeof DetokenizeRequest>;
/** A request as clients write it. */
export type DetokenizeBody = z.input<typeof DetokenizeRequest>;

/** The text of token ids, including special tokens, under both names that clients read. */
export const Detokenization = responseObject("Detokenization", {
  content: z.string().describe("The text."),
  prompt: z.string().describe("The same."),
});
export type Detokenization = z.infer<typeof Detokenization>;

/** The tokens of one prompt of a chat or completion request, as `…/render` returns them. */
export const RenderedPrompt = responseObject("RenderedPrompt", {
  request_id: z.string().describe("An id of this rendering, the same for all prompts of a request."),
  model: z.string().describe("The id of the model that has these tokens."),
  token_ids: z.array(z.int()).describe("Token ids in order, the same as in a completion of this body."),
});
export type RenderedPrompt = z.infer<typeof RenderedPrompt>;

/** One for each prompt of the request, in their order. */
export const RenderedPrompts = z.array(RenderedPrompt).meta({ id: "RenderedPrompts" });
export type RenderedPrompts = z.infer<typeof RenderedPrompts>;
