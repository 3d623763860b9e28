// The quantizations that a file can be written in, by the names that everybody uses for them. Pure.
import { EngineError } from "../errors.ts";
import { fileTypes, quantizationDefault } from "../library/quantization.ts";

export interface QuantizationLevel {
  name: string;
  /** llama.cpp's number of it. */
  fileType: number;
  /** Too few bits to round every weight alike: without an importance matrix the result would be of no use. */
  needsImatrix: boolean;
}

/** llama.cpp reads files of this kind and writes none. */
const readOnly = new Set(["NVFP4"]);

/** Those that have tensors of a type which llama.cpp refuses to write without an importance matrix. */
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

/** Names without an ending stand for the middle one. */
const shortNames: ReadonlyMap<string, string> = new Map([
  ["Q3_K", "Q3_K_M"],
  ["Q4_K", "Q4_K_M"],
  ["Q5_K", "Q5_K_M"],
]);

export const quantizationLevels: readonly QuantizationLevel[] = [...fileTypes]
  .filter(([, name]) => !readOnly.has(name))
  .map(([fileType, name]) => ({ name, fileType, needsImatrix: needImatrix.has(name) }));

/** Throws `invalid_request` with all names for one that is none. Capitals and small letters are the same. */
export function parseLevel(text: string = quantizationDefault): QuantizationLevel {
  const name = text.toUpperCase();
  const level = quantizationLevels.find((one) => one.name === (shortNames.get(name) ?? name));
  if (level !== undefined) return level;
  const names = quantizationLevels.map((one) => one.name).join(", ");
  const message = `to: "${text}" is no quantization. There are ${names}; ${quantizationDefault} is right for most.`;
  throw new EngineError("invalid_request", message, { details: { param: "to" } });
}
