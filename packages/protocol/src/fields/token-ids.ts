// Token ids in requests. Whether the model has them is for the engine to check.
import { z } from "zod";

import { sizePrecheck } from "./size-precheck.ts";

/** The most token ids in one list: as many as the longest known contexts hold. */
export const tokensMax = 1024 * 1024;

/** Token ids are 32-bit in the engine; no vocabulary has more. */
const tokenIdMax = 0x7fff_ffff;

export function isTokenId(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= tokenIdMax;
}

/** Whether this is a list of token ids that is not too long. */
export function areTokenIds(value: unknown): boolean {
  return Array.isArray(value) && value.length <= tokensMax && value.every(isTokenId);
}

/** A list of token ids; `rule` is its error. It becomes one typed array, because it may have a million items. */
export function tokenIds(rule: string, { min = 1 }: { min?: number } = {}) {
  const id = z.int(rule).min(0, rule).max(tokenIdMax, rule);
  const ids = z.array(id, rule).min(min, rule).max(tokensMax, rule);
  const isValid = (value: unknown): boolean => !Array.isArray(value) || areTokenIds(value);
  return sizePrecheck(ids, isValid, rule).transform((each) => Int32Array.from(each));
}
