// What is added to the logits of tokens: given by token ids, or by texts that stand for their tokens.
import { generationOptions } from "@ingle/generation-options";
import { z } from "zod";
import { invalidRequest } from "../base/errors.ts";
import type { Tokenizer } from "../prompt/tokenizer.ts";

const { max: logitBiasMax, lengthMax: biasTextMax } = generationOptions.logitBias;

const Bias = z.number().min(-100).max(100);
const tooMany = `at most ${logitBiasMax} tokens`;

export const LogitBias = z.union([
  z
    .record(z.string().regex(/^\d+$/), Bias)
    .refine((bias) => Object.keys(bias).length <= logitBiasMax, tooMany),
  z
    .array(z.tuple([z.union([z.int().min(0), z.string().min(1).max(biasTextMax)]), Bias]))
    .max(logitBiasMax, tooMany),
]);
export type LogitBias = z.infer<typeof LogitBias>;

/** Pairs of a token id and its bias. The last bias of a token counts. Throws `invalid_request`. */
export async function biasedTokens(
  bias: LogitBias | undefined,
  tokenizer: Pick<Tokenizer, "encode">,
): Promise<ReadonlyMap<number, number>> {
  if (bias === undefined) return new Map();
  if (!Array.isArray(bias))
    return new Map(Object.entries(bias).map(([token, value]) => [Number(token), value]));
  const biases = new Map<number, number>();
  for (const [token, value] of bias) {
    const tokens =
      typeof token === "number"
        ? [token]
        : await tokenizer.encode(token, { addSpecial: false, parseSpecial: false });
    for (const one of tokens) biases.set(one, value);
    if (biases.size > logitBiasMax)
      throw invalidRequest("logitBias", `the texts have more than ${logitBiasMax} tokens.`);
  }
  return biases;
}
