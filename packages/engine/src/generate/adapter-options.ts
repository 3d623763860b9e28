// The adapters of a model as options of load(), and those of a request with their scales.
import { z } from "zod";
import { invalidRequest } from "../base/errors.ts";

/** The most adapters of one model. Each takes memory beside the model's weights. */
export const adaptersMax = 32;

/** The largest scale, either way. Adapters are made for 1. */
const adapterScaleMax = 100;

/** No model has as many. */
const layersMax = 10_000;

/** Names appear after a colon in model names, so they have none. */
export const AdapterName = z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/, {
  message: "must be up to 64 letters, digits, dots, hyphens and underscores",
});

export const AdapterOption = z.object({
  /** The name by which requests choose it. */
  name: AdapterName,
  /**
   * A LoRA adapter or a control vector for this model: a GGUF file, or the folder of a LoRA adapter that PEFT or mlx-lm wrote, which is
   * converted to GGUF on its first use.
   */
  path: z.string().min(1),
});
export type AdapterOption = z.infer<typeof AdapterOption>;

export const AdapterOptions = z
  .array(AdapterOption)
  .max(adaptersMax)
  .refine((adapters) => new Set(adapters.map(({ name }) => name)).size === adapters.length, {
    message: "two adapters have the same name",
  });

/** The first and the last layer that control vectors change. Layers count from 0, and the first is never changed. */
export const AdapterLayers = z
  .object({ first: z.int().min(1).max(layersMax), last: z.int().min(1).max(layersMax) })
  .refine(({ first, last }) => first <= last, {
    message: "the first layer must not come after the last one",
  });
export type AdapterLayers = z.infer<typeof AdapterLayers>;

/** Adapters that a request is computed with. */
export const AdapterUses = z
  .array(
    z.object({
      /** Its name, or its place among the adapters that the model was loaded with, from 0 on. */
      id: z.union([
        AdapterName,
        z
          .int()
          .min(0)
          .max(adaptersMax - 1),
      ]),
      /** How much of the adapter's change is added; 0 adds nothing. Default 1. */
      scale: z.number().min(-adapterScaleMax).max(adapterScaleMax).default(1),
    }),
  )
  .max(adaptersMax);
export type AdapterUses = z.infer<typeof AdapterUses>;

/** The scale of each of a model's adapters; empty without any. An adapter that is given twice has the last scale. */
export function listScales(uses: AdapterUses, names: readonly string[]): number[] {
  if (uses.length === 0) return [];
  const scales = names.map(() => 0);
  for (const [at, { id, scale }] of uses.entries()) {
    const index = typeof id === "number" ? id : names.indexOf(id);
    if (names[index] === undefined) {
      const known = names.length === 0 ? "It was loaded without any." : `It has ${names.join(", ")}.`;
      throw invalidRequest(`adapters[${at}].id`, `the model has no adapter ${id}. ${known}`);
    }
    scales[index] = scale;
  }
  return scales;
}
