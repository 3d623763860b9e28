// Collects what becomes of a folder's tensors. Every one that belongs to the language model must have been asked for in the
// end: the model would not be the same without it.
import { MlxError } from "../errors.ts";
import type { TensorPlan } from "./architecture.ts";
import type { Shape } from "./settings.ts";

/** What a tensor's plan may have beside its names and sizes. */
type Treatment = Pick<TensorPlan, "rowOrder" | "add" | "type">;

/** Builds that can also see keep the language model in a part of its own. */
const LANGUAGE_PART = "language_model.";
/**
 * What may be left: the parts by which such a build sees, which a GGUF file keeps apart, and frequencies that some old builds
 * have stored though they follow from the settings.
 */
const LEFT = /^(vision_tower|multi_modal_projector)\.|\.rotary_emb\.inv_freq$/;
/** How many names an error may give. */
const NAMED_MAX = 3;

export class TensorList {
  readonly #names: ReadonlySet<string>;
  readonly #prefix: string;
  readonly #used = new Set<string>();
  readonly #plans: TensorPlan[] = [];

  constructor(tensorNames: ReadonlySet<string>) {
    this.#names = tensorNames;
    this.#prefix = tensorNames.has(`${LANGUAGE_PART}model.embed_tokens.weight`) ? LANGUAGE_PART : "";
  }

  has(source: string): boolean {
    return this.#names.has(this.#prefix + source);
  }

  /** A tensor by its whole names. Throws `mlx_missing`. */
  tensor(name: string, source: string, shape: readonly number[], treatment: Treatment = {}): void {
    const found = this.#prefix + source;
    if (!this.#names.has(found)) throw new MlxError("mlx_missing", `The folder has no tensor ${found}.`);
    this.#used.add(found);
    const stem = found.replace(/\.weight$/, "");
    if (stem !== found) for (const part of ["scales", "biases"]) this.#used.add(`${stem}.${part}`);
    this.#plans.push({ name, sources: [found], shape, ...treatment });
  }

  /** The weight of a module, and its bias where it has one. The sizes are columns, rows and, where it is a stack, their number. */
  linear(
    name: string,
    module: string,
    shape: readonly [columns: number, rows: number, stacked?: number],
    treatment: Treatment = {},
  ): void {
    const sizes = shape.filter((size) => size !== undefined);
    this.tensor(`${name}.weight`, `${module}.weight`, sizes, treatment);
    if (this.has(`${module}.bias`)) this.tensor(`${name}.bias`, `${module}.bias`, sizes.slice(1), treatment);
  }

  norm(name: string, module: string, length: number, treatment: Treatment = {}): void {
    this.tensor(`${name}.weight`, `${module}.weight`, [length], treatment);
  }

  /** The embeddings of the tokens. */
  embeddings({ embedding, vocabulary }: Shape): void {
    this.linear("token_embd", "model.embed_tokens", [embedding, vocabulary]);
  }

  /** The output matrix, unless it is the embeddings': then there is none. Throws `mlx_missing` when the settings say it is not. */
  output({ embedding, vocabulary }: Shape, isTied: boolean | undefined): void {
    if (isTied === false || this.has("lm_head.weight"))
      this.linear("output", "lm_head", [embedding, vocabulary]);
  }

  /** All plans. Throws `mlx_unsupported` when the folder has tensors that were not asked for. */
  end(): readonly TensorPlan[] {
    const left = [...this.#names].filter((name) => !this.#used.has(name) && !LEFT.test(name));
    if (left.length === 0) return this.#plans;
    const named = left.slice(0, NAMED_MAX).join(", ");
    throw new MlxError(
      "mlx_unsupported",
      `The folder has ${left.length} tensors that have no place in a language model of its type, such as ${named}. ` +
        "It would not be the same model without them.",
    );
  }
}
