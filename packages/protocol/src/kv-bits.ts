// In how many bits a KV cache may store a value. It has an export of its own: the command line checks its flags by it
// before a model is begun, and to read the whole protocol would keep the model waiting.
import { z } from "zod";

export const kvBitsRule = "must be 16, 8, 4 or 3";

/** Bits of a value, scales not counted: fewer take less memory for each token and are less exact. */
export const KvBits = z.literal([16, 8, 4, 3], kvBitsRule);
export type KvBits = z.infer<typeof KvBits>;
