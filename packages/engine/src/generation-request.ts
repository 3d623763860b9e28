// What may be asked of a model, checked once: here for callers in process, with the same schema the server fills.
import { z } from "zod";
import { EngineError } from "./errors.ts";
import { Message } from "./messages.ts";
import { Limits, Sampling } from "./sampling.ts";

/** Exactly one of a chat, a text or tokens is the prompt. */
const Prompt = z.union([
  z.object({
    /** A conversation, written out with the model's chat template. */
    messages: z.array(Message).min(1),
    prompt: z.undefined().optional(),
  }),
  z.object({
    /** Text (tokenized with the model's special tokens), or token ids taken as they are. */
    prompt: z.union([z.string().min(1), z.array(z.int().min(0)).min(1), z.instanceof(Int32Array)]),
    messages: z.undefined().optional(),
  }),
]);

export const GenerationRequest = z
  .intersection(Prompt, z.object({ ...Sampling.shape, ...Limits.shape }))
  .meta({ id: "GenerationRequest" });
/** As callers write it: everything but the prompt may be left out. */
export type GenerationRequest = z.input<typeof GenerationRequest>;
export type CheckedGenerationRequest = z.output<typeof GenerationRequest>;

/** Checks a request; throws `invalid_request` with the field's path in `details.param`. */
export function checkGenerationRequest(request: GenerationRequest): CheckedGenerationRequest {
  const result = GenerationRequest.safeParse(request);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const param = issue?.path.join(".") ?? "";
  throw new EngineError(
    "invalid_request",
    param === "" ? (issue?.message ?? "") : `${param}: ${issue?.message}`,
    {
      cause: result.error,
      details: { param },
    },
  );
}
