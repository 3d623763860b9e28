// The prompt of a request: a chat, or a text or tokens.
import { tokensMax } from "@ingle/generation-options";
import { z } from "zod";
import { imagesMax, RgbImage } from "../media/images/image-limits.ts";
import { countImages, Message } from "./messages.ts";
import type { ResponseFormat } from "./response-format.ts";
import { ToolOptions } from "./tools.ts";

/** Maximum number of template variables per request. */
const templateArgumentsMax = 32;

/** Maximum number of items of a variable that is a list. */
const templateListMax = 256;

const TemplateScalar = z.union([z.string().max(1024), z.number(), z.boolean()]);

/** Maximum length of the text that ends a thought, in UTF-16 units. */
const thinkingEndMax = 1024;

/** The result of `tokenizer.encode()`. `z.instanceof` would refuse some kinds of buffers. */
const Tokens = z.custom<Int32Array>((value) => value instanceof Int32Array);

/** The prompt: a chat, or a text or tokens. */
export const Prompt = z.union([
  z.object({
    /** A conversation, formatted with the model's chat template. */
    messages: z
      .array(Message, "must be a list of messages if there is no prompt")
      .min(1)
      .refine((messages) => countImages(messages) <= imagesMax, `at most ${imagesMax} images`),
    prompt: z.undefined().optional(),
    images: z.undefined().optional(),
    ...ToolOptions.shape,
    /** Whether the model may reason before it replies, if it can. Default: as `reasoning` of its `load()` says, else true. */
    thinking: z.boolean().optional(),
    /**
     * Maximum number of tokens that the model thinks before it replies; then its thought is ended, as if it had ended it itself. -1: no
     * limit, the default. `invalid_request` for a limit if the model thinks and nobody knows how its thoughts end.
     */
    thinkingTokens: z.int().min(-1).max(tokensMax).optional(),
    /** A default for both: it is no error where nobody knows how thoughts end. */
    thinkingDefault: z.int().min(-1).max(tokensMax).optional(),
    /** The same as a share of the tokens of the reply, above 0 and up to 1; not used beside `thinkingTokens`, or without a known end. */
    thinkingShare: z.number().gt(0).max(1).optional(),
    /** What a thought ends with that is ended, before the mark of its end. Default: nothing. */
    thinkingEnd: z.string().max(thinkingEndMax).default(""),
    /** Additional variables for the chat template. Default: none. */
    templateArguments: z
      .record(
        z.string().regex(/^[A-Za-z_]\w{0,63}$/),
        z.union([TemplateScalar, z.array(TemplateScalar).max(templateListMax)]),
      )
      .refine(
        (values) => Object.keys(values).length <= templateArgumentsMax,
        `at most ${templateArgumentsMax} variables`,
      )
      .default({}),
    /** Whether the reply continues the last message, which must be the assistant's. Default false. */
    continueFinalMessage: z.boolean().default(false),
  }),
  z.object({
    /** A text, which is tokenized with the model's special tokens, or token ids, which are used as they are. */
    prompt: z.union([z.string(), z.array(z.int().min(0)).min(1), Tokens]),
    /**
     * The text after the reply: a model with infill tokens then writes the text between a prompt and this suffix. Special tokens in
     * either are treated as text. Default: none.
     */
    suffix: z.string().default(""),
    /**
     * Images for the prompt, which must contain the model's `imageMarker` once for each. Default: none; the marker is then ordinary
     * text.
     */
    images: z.array(RgbImage).max(imagesMax).optional(),
    messages: z.undefined().optional(),
  }),
]);

/** A checked chat with the form of its reply, from which the prompt and the rules of the reply are made. */
export type ChatPrompt = Extract<z.output<typeof Prompt>, { messages: unknown }> & {
  responseFormat: ResponseFormat;
};
