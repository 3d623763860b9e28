// The request of a generation and its rules.
import { z } from "zod";
import { AdapterUses } from "./adapters/adapter-options.ts";
import { invalidOption } from "./issue-message.ts";
import { imagesMax, RgbImage } from "./images/image-limits.ts";
import { countImages, Message } from "./messages.ts";
import { ResponseFormat } from "./response-format.ts";
import { Limits, refineSampling, Sampling } from "./sampling.ts";
import { ToolOptions } from "./tools.ts";

/** Maximum number of template variables per request. */
const templateArgumentsMax = 32;

/** Maximum number of items of a variable that is a list. */
const templateListMax = 256;

const TemplateScalar = z.union([z.string().max(1024), z.number(), z.boolean()]);

/** The result of `tokenizer.encode()`. `z.instanceof` would refuse some kinds of buffers. */
const Tokens = z.custom<Int32Array>((value) => value instanceof Int32Array);

/** The prompt: a chat, or a text or tokens. */
const Prompt = z.union([
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

export const GenerationRequest = z
  .intersection(
    Prompt,
    z
      .object({
        ...Sampling.shape,
        ...Limits.shape,
        /** Adapters that the model was loaded with (`LoadOptions.adapters`), for this request. Default: none. */
        adapters: AdapterUses.default([]),
        /** The required form of the reply's text. Default: any text. */
        responseFormat: ResponseFormat.default({ type: "text" }),
      })
      .superRefine(refineSampling),
  )
  .meta({ id: "GenerationRequest" });
/** A request as callers write it: only the prompt is required. */
export type GenerationRequest = z.input<typeof GenerationRequest>;
export type CheckedGenerationRequest = z.output<typeof GenerationRequest>;

/** Checks a request; throws `invalid_request` with the field's path in `details.param`. */
export function checkGenerationRequest(request: GenerationRequest): CheckedGenerationRequest {
  const result = GenerationRequest.safeParse(request);
  if (result.success) return result.data;
  throw invalidOption(result.error, firstIssue(result.error));
}

/** If no kind of prompt matches, the issue of the kind that was evidently meant: the deepest one. */
function firstIssue({ issues: [issue] }: z.ZodError): z.core.$ZodIssue | undefined {
  if (issue?.code !== "invalid_union") return issue;
  const ofEach = issue.errors.flatMap((issues) => issues.slice(0, 1));
  return ofEach.toSorted((one, other) => other.path.length - one.path.length)[0];
}
