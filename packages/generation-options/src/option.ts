// What a row of the table says about a generation option.
import type { SamplerName } from "./samplers.ts";

interface Described {
  /** Its field in a request: the option's name in snake case. */
  readonly field: string;
  /** Another name of the field. */
  readonly alias?: string;
  /** What the option does, in sentences that name other options by their fields. */
  readonly help: string;
  /** What else holds for a field of a request. */
  readonly fieldNote?: string;
  /** What else holds in the library. */
  readonly libraryNote?: string;
  /** A sentence in Markdown that the documentation adds. */
  readonly details?: string;
  /** What a request's value must be, if the bounds do not say it: "an integer of at most 64 bits". */
  readonly rule?: string;
  /** Describes a default that is not a plain value. */
  readonly defaultText?: string;
  /** The key after `general.sampling.` under which a model's file has the value that its makers recommend. */
  readonly ggufKey?: string;
  /** The flag of the server's default, in commander's notation. */
  readonly flag?: string;
}

export interface NumberOption extends Described {
  readonly kind: "number" | "integer";
  /** Excludes this number and those below it. */
  readonly above?: number;
  readonly min?: number;
  readonly max?: number;
  /** The minimum in a request to the server, which gives the values below the engine's minimum a meaning. */
  readonly fieldMin?: number;
  readonly default: number;
  /** Whether the server's variants have defaults of their own. */
  readonly isPerVariant?: true;
  /** Whether it counts tokens to look back on: where a request may be -1, that stands for `max`. */
  readonly isWindow?: true;
}

/** A seed, or a limit on tokens: -1 stands for a random seed and for no limit. */
export interface WholeOption extends Described {
  readonly kind: "seed" | "limit";
  readonly rule: string;
}

/** Texts, none of which is empty. `stops` end the reply. */
export interface TextsOption extends Described {
  readonly kind: "texts" | "stops";
  readonly rule: string;
  /** Maximum number of texts. */
  readonly max: number;
  /** Maximum length of a text, in UTF-16 units. */
  readonly lengthMax: number;
  readonly default: readonly string[];
}

/** The order of the samplers. */
export interface SamplersOption extends Described {
  readonly kind: "samplers";
  readonly default: readonly SamplerName[];
}

/** What is added to the logits of tokens. */
export interface BiasOption extends Described {
  readonly kind: "bias";
  /** Maximum number of tokens and texts with a bias. */
  readonly max: number;
  /** Maximum length of a text whose tokens get a bias, in UTF-16 units. */
  readonly lengthMax: number;
}

export type GenerationOption = NumberOption | WholeOption | TextsOption | SamplersOption | BiasOption;

/** Samplers compute in 32 bits, where numbers outside these bounds would become 0 or infinity. */
export const singleMin = 1e-30;
export const singleMax = 1e30;

/** What a request's value must be, as a phrase: "a number from 0 to 1". */
export function numberRule({ kind, rule, above, min, max = singleMax, fieldMin }: NumberOption): string {
  if (rule !== undefined) return rule;
  const noun = kind === "number" ? "a number" : "an integer";
  if (above !== undefined && fieldMin === undefined)
    return `${noun} above ${above}${max === singleMax ? "" : ` and at most ${max}`}`;
  const least = fieldMin ?? min;
  return max === singleMax ? `${noun} of at least ${least}` : `${noun} from ${least} to ${max}`;
}
