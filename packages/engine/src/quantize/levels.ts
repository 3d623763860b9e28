// The quantizations that a file can be written in.
import { invalidRequest } from "../base/errors.ts";
import { fileTypes, quantizationDefault } from "../library/quantization.ts";

export interface QuantizationLevel {
  name: string;
  /** llama.cpp's number. */
  fileType: number;
  /** Whether it has so few bits that the result is useless without an importance matrix. */
  needsImatrix: boolean;
}

/** llama.cpp reads these, but cannot write them. */
const readOnly = new Set(["NVFP4"]);

/** Quantizations with tensors of a type that llama.cpp refuses to write without an importance matrix. */
const needImatrix = new Set([
  "IQ1_S",
  "IQ1_M",
  "IQ2_XXS",
  "IQ2_XS",
  "IQ2_S",
  "IQ2_M",
  "IQ3_XXS",
  "IQ3_XS",
  "Q2_K_S",
]);

/** A name without a suffix means the medium variant. */
const shortNames: ReadonlyMap<string, string> = new Map([
  ["Q3_K", "Q3_K_M"],
  ["Q4_K", "Q4_K_M"],
  ["Q5_K", "Q5_K_M"],
]);

export const quantizationLevels: readonly QuantizationLevel[] = [...fileTypes]
  .filter(([, name]) => !readOnly.has(name))
  .map(([fileType, name]) => ({ name, fileType, needsImatrix: needImatrix.has(name) }));

/** Ignores case. Throws `invalid_request` with all names for an unknown one. */
export function parseLevel(text: string = quantizationDefault): QuantizationLevel {
  const name = text.toUpperCase();
  const level = quantizationLevels.find((one) => one.name === (shortNames.get(name) ?? name));
  if (level !== undefined) return level;
  const names = quantizationLevels.map((one) => one.name).join(", ");
  throw invalidRequest(
    "to",
    `unknown quantization "${text}". Use one of ${names}; ${quantizationDefault} suits most purposes.`,
  );
}
