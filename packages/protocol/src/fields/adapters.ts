// `lora` of requests: the adapters that a reply is computed with, in llama-server's shape.
import { z } from "zod";

import { optionalField } from "./field.ts";
import { boundedArray } from "./size-precheck.ts";

/** The most adapters of one request, as many as a model may have. */
const lorasMax = 32;
const scaleMax = 100;

const rule = `lora must be an array of at most ${lorasMax} objects with id and scale`;
const idRule = "lora.id must be the name of an adapter, or its place among the model's adapters from 0 on";
const scaleRule = `lora.scale must be a number from -${scaleMax} to ${scaleMax}`;

const LoraUse = z.looseObject(
  {
    id: z.union(
      [
        z.string(idRule).regex(/^[A-Za-z0-9][\w.-]{0,63}$/, idRule),
        z
          .int(idRule)
          .min(0, idRule)
          .max(lorasMax - 1, idRule),
      ],
      idRule,
    ),
    scale: z.number(scaleRule).min(-scaleMax, scaleRule).max(scaleMax, scaleRule),
  },
  rule,
);

/** Adapters with their scales. */
export const LoraUses = boundedArray(LoraUse, rule, { max: lorasMax });

export const loraField = optionalField(
  LoraUses,
  "Adapters of the model by name or place, each with a scale; 0 adds nothing. They take the place of one that model names.",
);
