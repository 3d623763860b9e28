// What the commands kv and quant are told. Made by main.ts from the command line.
export interface QualityOptions {
  /** A model's file: for quant the one that is not quantized. */
  model: string;
  /** Kinds of cache or levels, as they are named; none means those that are compared by default. */
  names: readonly string[];
  /** A file of prose. */
  text: string;
  pieces: number;
  pieceTokens: number;
  /** Tokens that the context holds while the speed of generating is measured; 0 leaves that out (kv). */
  depth: number;
  /** Texts with needles; 0 leaves them out (kv). */
  needleTexts: number;
  threads: number;
  seed: number;
  force: boolean;
  signal: AbortSignal;
  say: (line: string) => void;
}
