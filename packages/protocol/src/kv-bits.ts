// The bits of a value in the KV cache. This file has an export of its own: the command line checks its flags with it before it
// loads a model, and importing the whole protocol would delay that.
import { z } from "zod";

export const kvBitsRule = "must be 16, 8, 4 or 3";

/** Bits of a value, without its scales. Fewer bits take less memory per token and are less exact. */
export const KvBits = z.literal([16, 8, 4, 3], kvBitsRule);
export type KvBits = z.infer<typeof KvBits>;
