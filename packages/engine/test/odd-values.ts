// Values that valid model files do not have, and a seeded choice among them: for mutants.ts.
import { seededRandom } from "@ingle/fixtures";
import { stringType, uint64 } from "./gguf-draft.ts";

/** A random generator: the same seed and name give the same choices. */
export class Choice {
  readonly #random;
  constructor(seed: number, name: string) {
    this.#random = seededRandom(seed, name);
  }

  below(count: number): number {
    return this.#random.uint32() % count;
  }

  of<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("There is nothing to choose from.");
    return item;
  }
}

/** Integers at the limits of their types, and odd ones in between. */
const integers = [0n, 1n, 2n, 3n, 7n, 16n, 63n, 65n, 257n, 512n, 4096n, 65_536n, 2n ** 20n, 2n ** 31n - 1n];
const edges = [2n ** 31n, 2n ** 32n - 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n, -1n, -7n];
const floats = [0, -0, 1, -1, 0.5, 1e-38, 1e38, -1e38, Number.NaN, Number.POSITIVE_INFINITY, -Infinity, 3e9];

/** A random number of this type, as it is stored in the file. */
export function oddNumber(type: number, choice: Choice, near: Buffer): Buffer {
  if (type === 6 || type === 12) {
    const bytes = Buffer.alloc(type === 6 ? 4 : 8);
    if (type === 6) bytes.writeFloatLE(choice.of(floats));
    else bytes.writeDoubleLE(choice.of(floats));
    return bytes;
  }
  if (type === 7) return Buffer.of(choice.of([0, 1, 2, 255]));
  const value = near.length === 0 ? 0n : BigInt(`0x${Buffer.from(near.toReversed()).toString("hex")}`);
  const neighbours = [value + 1n, value - 1n, value * 2n, value / 2n, value * 3n, value + 32n];
  const chosen = choice.of([...integers, ...edges, ...neighbours, ...neighbours]);
  return uint64(chosen).subarray(0, Math.max(near.length, 1));
}

export const oddTexts = [
  "",
  " ",
  "\0",
  "a".repeat(70_000),
  "\xff\xfe",
  "<0xZZ>",
  "<0x41>",
  "<s>",
  "\u{2581}",
  "a b",
  "none",
];

export function oddText(choice: Choice): Buffer {
  return Buffer.from(choice.of(oddTexts), "latin1");
}

export function oddItem(type: number, choice: Choice, near: Buffer): Buffer {
  return type === stringType ? oddText(choice) : oddNumber(type, choice, near);
}

/** The size in bytes of a value of this type; none for strings and arrays. */
export function valueBytes(type: number): number {
  return [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8][type] ?? 0;
}
