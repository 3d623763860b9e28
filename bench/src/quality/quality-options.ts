// Options of the commands kv and quant.
export interface QualityOptions {
  /** A model file; for quant, the original. */
  model: string;
  /** Names of cache types or levels; none means the default ones. */
  names: readonly string[];
  /** A file of prose. */
  text: string;
  pieces: number;
  pieceTokens: number;
  /** Tokens in the context while generation speed is measured; 0 skips it (kv). */
  depth: number;
  /** Number of texts with needles; 0 skips them (kv). */
  needleTexts: number;
  threads: number;
  seed: number;
  force: boolean;
  signal: AbortSignal;
  say: (line: string) => void;
}
