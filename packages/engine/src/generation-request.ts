// What may be asked of a model, checked once: here for callers in process, with the same schema the server fills.
import { z } from "zod";
import { invalidOption } from "./issue-words.ts";
import { imagesMax, RgbImage } from "./images/rgb-image.ts";
import { countImages, Message } from "./messages.ts";
import { ResponseFormat } from "./response-format.ts";
import { Limits, Sampling } from "./sampling.ts";
import { ToolOptions } from "./tools.ts";

/** Most variables that a request may hand to the template. */
const templateArgumentsMax = 32;

/** Most entries of such a variable that is a list. */
const templateListMax = 256;

const TemplateScalar = z.union([z.string().max(1024), z.number(), z.boolean()]);

/** As `tokenizer.encode()` gives them: over a buffer of any kind, which `z.instanceof` would not take. */
const Tokens = z.custom<Int32Array>((value) => value instanceof Int32Array);

/** Exactly one of a chat, a text or tokens is the prompt. */
const Prompt = z.union([
  z.object({
    /** A conversation, written out with the model's chat template. */
    messages: z
      .array(Message, "must be a list of messages where there is no prompt")
      .min(1)
      .refine((messages) => countImages(messages) <= imagesMax, `at most ${imagesMax} pictures`),
    prompt: z.undefined().optional(),
    images: z.undefined().optional(),
    ...ToolOptions.shape,
    /** Whether a model that can think before it answers may do so. Default true. */
    thinking: z.boolean().default(true),
    /** More variables for the chat template. */
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
    /** The last message is the assistant's, and the reply goes on with it. Default false. */
    continueFinalMessage: z.boolean().default(false),
  }),
  z.object({
    /** Text (tokenized with the model's special tokens), or token ids taken as they are. */
    prompt: z.union([z.string(), z.array(z.int().min(0)).min(1), Tokens]),
    /**
     * What comes after the reply: a model with tokens for it writes what is missing between a text as prompt and this.
     * Both are taken as they are, without special tokens in them. Default: nothing.
     */
    suffix: z.string().default(""),
    /**
     * Pictures: the prompt is a text with as many of the model's `imageMarker`, one for each. Default: none, and the marker is a
     * word like any other.
     */
    images: z.array(RgbImage).max(imagesMax).optional(),
    messages: z.undefined().optional(),
  }),
]);

export const GenerationRequest = z
  .intersection(
    Prompt,
    z.object({
      ...Sampling.shape,
      ...Limits.shape,
      /** The form that the reply's text must have. Default: any. */
      responseFormat: ResponseFormat.default({ type: "text" }),
    }),
  )
  .meta({ id: "GenerationRequest" });
/** As callers write it: everything but the prompt may be left out. */
export type GenerationRequest = z.input<typeof GenerationRequest>;
export type CheckedGenerationRequest = z.output<typeof GenerationRequest>;

/** Checks a request; throws `invalid_request` with the field's path in `details.param`. */
export function checkGenerationRequest(request: GenerationRequest): CheckedGenerationRequest {
  const result = GenerationRequest.safeParse(request);
  if (result.success) return result.data;
  throw invalidOption(result.error, firstIssue(result.error));
}

/** Of a prompt that is of neither kind, what is wrong with the kind that was meant: its problem lies deeper. */
function firstIssue({ issues: [issue] }: z.ZodError): z.core.$ZodIssue | undefined {
  if (issue?.code !== "invalid_union") return issue;
  const ofEach = issue.errors.flatMap((issues) => issues.slice(0, 1));
  return ofEach.toSorted((one, other) => other.path.length - one.path.length)[0];
}
