// The flags of `ingle quantize` and `ingle imatrix`.
import type { Flag, FlagsOf } from "../../settings/setting.ts";

const threads = {
  flag: "--threads <number>",
  kind: "integer",
  min: 1,
  defaultText: "one per core",
  help: "CPU threads to compute with",
} as const;
const offline = {
  flag: "--offline",
  kind: "toggle",
  help: "Download nothing; the model must already be on this machine",
} as const;
const force = {
  flag: "--force",
  kind: "toggle",
  help: "Overwrite an existing file",
  details: "The model itself is never overwritten.",
} as const;

export const quantizeFlags = [
  {
    flag: "--to <level>",
    kind: "text",
    defaultText: "`Q4_K_M`",
    help: "Quantization to write, in capitals or small letters; an unknown one lists them all",
  },
  {
    flag: "--imatrix <file>",
    kind: "text",
    help: "Importance matrix of this model, from `ingle imatrix` or llama.cpp",
  },
  { flag: "--allow-requantize", kind: "toggle", help: "Accept a model that is already quantized" },
  force,
  threads,
  offline,
] as const satisfies readonly Flag[];
export type QuantizeFlags = FlagsOf<(typeof quantizeFlags)[number]>;

export const imatrixFlags = [
  {
    flag: "--text <file>",
    kind: "text",
    isRequired: true,
    help: "Text of the kind that the model will be used for",
  },
  {
    flag: "-o, --output <file>",
    kind: "text",
    defaultText: "`my-model-f16.imatrix.gguf` beside the model",
    help: "File or folder to write to",
  },
  {
    flag: "--chunks <number>",
    kind: "integer",
    min: 1,
    defaultText: "the whole text",
    help: "Most chunks of the text to read",
  },
  { flag: "--ctx <tokens>", kind: "integer", min: 1, defaultText: "512", help: "Tokens per chunk" },
  force,
  threads,
  offline,
] as const satisfies readonly Flag[];
export type ImatrixFlags = FlagsOf<(typeof imatrixFlags)[number]>;
