// POST /infill: fills the gap between two texts, with other texts of the same project as context.
import type { Model } from "@ingle/engine";
import {
  LlamaServerChunk,
  LlamaServerCompletion,
  LlamaServerError,
  LlamaServerInfillRequest,
} from "@ingle/protocol";
import { z } from "zod";
import { generationErrors } from "../../openapi/operation.ts";
import { WireError } from "../../wire-error.ts";
import type { GenerationRoute } from "../../generation/generation-route.ts";
import { llamaServerConventions } from "./conventions.ts";
import { toTextRequest } from "./engine-request.ts";
import { toResponse } from "./response.ts";

export const llamaServerInfill: GenerationRoute<LlamaServerInfillRequest> = {
  path: "/infill",
  body: LlamaServerInfillRequest,
  operation: {
    summary: "Fills the gap between two texts, in llama-server's form",
    responses: { 200: LlamaServerCompletion },
    event: z.union([LlamaServerChunk, LlamaServerCompletion]),
    errors: generationErrors,
    errorBody: LlamaServerError,
    example: { input_prefix: "def add(a, b):\n", input_suffix: "\n", n_predict: 8 },
  },
  conventions: llamaServerConventions,
  idPrefix: "llama-server-",
  tracedAs: "text_completion",
  toEngine: (body) => ({
    prompts: [toTextRequest(body, (model) => infillTokens(body, model))],
    repliesPerPrompt: body.n_cmpl ?? body.n,
  }),
  respond: (running) => {
    const { body, model } = running;
    return toResponse(running, async () =>
      model.tokenizer.decode(await infillTokens(body, model), { specials: true }),
    );
  },
};

/**
 * The prompt: other texts, oldest first, then the texts around the gap, then the start of the gap's text. If the context has no
 * room for all other texts, the first ones are omitted. Special tokens are treated as text, except in the gap's text.
 */
async function infillTokens(
  { input_prefix, input_suffix, input_extra = [], prompt = "", n_predict = -1 }: LlamaServerInfillRequest,
  { info, tokenizer }: Model,
): Promise<Int32Array> {
  const { tokens, addsBos, contextLength } = info;
  const { bos, infillPrefix, infillSuffix, infillMiddle, infillProject, infillFile } = tokens;
  if (infillPrefix < 0 || infillSuffix < 0 || infillMiddle < 0) {
    const message = "This model has no tokens for a text with a gap; use one that was trained to fill gaps.";
    throw new WireError("invalid_request", message, { param: "input_suffix" });
  }
  const encode = async (text: string, parseSpecial = false): Promise<Int32Array> =>
    tokenizer.encode(text, { addSpecial: false, parseSpecial });
  const named = async (filename: string): Promise<number[]> =>
    infillFile < 0 ? [...(await encode("\n\n"))] : [infillFile, ...(await encode(`${filename}\n`))];

  const begin = addsBos ? [bos] : [];
  const gap = [
    infillPrefix,
    ...(await encode(input_prefix)),
    ...(await encode(prompt, true)),
    infillSuffix,
    ...(await encode(input_suffix)),
    infillMiddle,
  ];
  if (input_extra.length === 0) return Int32Array.from([...begin, ...gap]);
  const project = infillProject < 0 ? [] : [infillProject, ...(await encode("project\n"))];
  const own = infillFile < 0 ? [] : await named("filename");
  let room = contextLength - Math.max(1, n_predict) - begin.length - project.length - own.length - gap.length;
  const others: number[][] = [];
  for (const { text, filename = "tmp" } of input_extra.toReversed()) {
    const other = [...(await named(filename)), ...(await encode(text))];
    room -= other.length;
    if (room < 0) break;
    others.unshift(other);
  }
  return Int32Array.from([...begin, ...project, ...others.flat(), ...own, ...gap]);
}
