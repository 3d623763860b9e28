// The flags of `ingle run` and `ingle chat`: settings of model and engine, and how to sample.
import type { Flag, FlagsOf } from "../../settings/setting.ts";
import { settings } from "../../settings/settings.ts";

const { contextLength, threads, kvBits, kvBitsK, kvBitsV } = settings.engine;
const { contextOverflow, speculation, draftModel, draftTokens } = settings.engine;

export const loadingSettings = [
  settings.model,
  settings.offline,
  contextLength,
  threads,
  kvBits,
  kvBitsK,
  kvBitsV,
  contextOverflow,
  speculation,
  draftModel,
  draftTokens,
] as const;

export const samplingFlags = [
  { flag: "--system <text>", kind: "text", help: "System message" },
  {
    flag: "--max-tokens <number>",
    kind: "integer",
    defaultText: "to the end of the context",
    help: "Most tokens to generate",
  },
  {
    flag: "--temperature <number>",
    kind: "decimal",
    defaultText: "1",
    help: "Randomness; 0 is deterministic",
  },
  {
    flag: "--top-k <number>",
    kind: "integer",
    defaultText: "50",
    help: "Sample from the k likeliest tokens; 0 keeps all",
  },
  {
    flag: "--top-p <number>",
    kind: "decimal",
    defaultText: "1",
    help: "Sample from the likeliest tokens whose probabilities add up to this",
  },
  {
    flag: "--min-p <number>",
    kind: "decimal",
    defaultText: "0",
    help: "Drop tokens below this fraction of the likeliest one's probability",
  },
  {
    flag: "--seed <number>",
    kind: "integer",
    defaultText: "random",
    help: "Seed of the sampler; the same seed and prompt give the same reply",
  },
] as const satisfies readonly Flag[];

export type GenerationFlags = FlagsOf<(typeof loadingSettings)[number] | (typeof samplingFlags)[number]>;
