// Names of quantizations, in file names and in GGUF headers.
import type { GgufMetadata } from "@ingle/gguf";

/** The default: a quarter of the size, and hardly worse than the original. */
export const quantizationDefault = "Q4_K_M";

/** Names between separators: Q4_K_M, IQ2_XXS, UD-Q4_K_XL, BF16, MXFP4_MOE, … */
const pattern =
  /(?<=^|[-._/])((?:UD-)?(?:I?Q[1-9]\d?(?:_[A-Z0-9]{1,4}){0,3}|TQ[12]_0|BF16|F16|FP16|F32|FP32|(?:MX|NV)FP4(?:_MOE)?))(?=$|[-._/])/gi;

/** The last quantization in a file's name, such as `Q4_K_M`; undefined if there is none. */
export function quantizationInName(name: string): string | undefined {
  const found = [...name.matchAll(pattern)].at(-1)?.[1];
  return found?.toUpperCase().replace(/^FP(16|32)$/, "F$1");
}

/** The name with `quantization` in place of its own, or appended to it. */
export function withQuantization(name: string, quantization: string): string {
  const own = [...name.matchAll(pattern)].at(-1);
  if (own === undefined) return `${name}-${quantization}`;
  return name.slice(0, own.index) + quantization + name.slice(own.index + own[0].length);
}

/** The name without quantizations; the separators stay. */
export function withoutQuantization(name: string): string {
  return name.replaceAll(pattern, "");
}

/** llama.cpp's numbers of quantizations (`general.file_type`). */
export const fileTypes: ReadonlyMap<number, string> = new Map([
  [0, "F32"],
  [1, "F16"],
  [2, "Q4_0"],
  [3, "Q4_1"],
  [7, "Q8_0"],
  [8, "Q5_0"],
  [9, "Q5_1"],
  [10, "Q2_K"],
  [11, "Q3_K_S"],
  [12, "Q3_K_M"],
  [13, "Q3_K_L"],
  [14, "Q4_K_S"],
  [15, "Q4_K_M"],
  [16, "Q5_K_S"],
  [17, "Q5_K_M"],
  [18, "Q6_K"],
  [19, "IQ2_XXS"],
  [20, "IQ2_XS"],
  [21, "Q2_K_S"],
  [22, "IQ3_XS"],
  [23, "IQ3_XXS"],
  [24, "IQ1_S"],
  [25, "IQ4_NL"],
  [26, "IQ3_S"],
  [27, "IQ3_M"],
  [28, "IQ2_S"],
  [29, "IQ2_M"],
  [30, "IQ4_XS"],
  [31, "IQ1_M"],
  [32, "BF16"],
  [36, "TQ1_0"],
  [37, "TQ2_0"],
  [38, "MXFP4_MOE"],
  [39, "NVFP4"],
  [40, "Q1_0"],
  [41, "Q2_0"],
]);

/** The quantization in a header; undefined if it has none, or a number that is newer than this table. */
export function quantizationInHeader(metadata: GgufMetadata): string | undefined {
  const found = metadata.get("general.file_type");
  return found !== undefined && "value" in found && typeof found.value === "number"
    ? fileTypes.get(found.value)
    : undefined;
}
