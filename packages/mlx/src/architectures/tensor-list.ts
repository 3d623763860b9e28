// Collects the plans of a folder's tensors. Every tensor of the language model must be used in the end; otherwise it would be a
// different model.
import { MlxError } from "../errors.ts";
import type { TensorNames, TensorPlan } from "./architecture.ts";
import type { Shape } from "./settings.ts";

type Treatment = Pick<TensorPlan, "rowOrder" | "add" | "type">;

/** The prefix of the language model in builds of vision models. */
const LANGUAGE_PREFIX = "language_model.";
/** Tensors that may be unused: vision, which GGUF keeps in another file, and frequencies that follow from the settings. */
const UNUSED = /^(vision_tower|multi_modal_projector)\.|\.rotary_emb\.inv_freq$/;
/** Maximum number of tensors that an error names. */
const NAMED_MAX = 3;

/** Prefixes of names, in the file and in the folder. */
interface Prefixes {
  readonly file: string;
  readonly folder: string;
}

export class TensorList {
  readonly #names: TensorNames;
  #prefixes: Prefixes;
  #used = new Set<string>();
  #plans: TensorPlan[] = [];

  constructor(tensorNames: TensorNames) {
    this.#names = tensorNames;
    const isPart = tensorNames.has(`${LANGUAGE_PREFIX}model.embed_tokens.weight`);
    this.#prefixes = { file: "", folder: isPart ? LANGUAGE_PREFIX : "" };
  }

  /** The same list for names that begin with these prefixes, such as those of a layer. */
  within(file: string, folder: string): TensorList {
    const list = new TensorList(this.#names);
    list.#prefixes = { file: this.#prefixes.file + file, folder: this.#prefixes.folder + folder };
    list.#used = this.#used;
    list.#plans = this.#plans;
    return list;
  }

  has(source: string): boolean {
    return this.#names.has(this.#prefixes.folder + source);
  }

  /** Adds a tensor. Throws `mlx_missing`. */
  tensor(name: string, source: string, shape: readonly number[], treatment: Treatment = {}): void {
    const found = this.#prefixes.folder + source;
    if (!this.#names.has(found)) throw new MlxError("mlx_missing", `The folder has no tensor ${found}.`);
    this.#used.add(found);
    const stem = found.replace(/\.weight$/, "");
    if (stem !== found) for (const part of ["scales", "biases"]) this.#used.add(`${stem}.${part}`);
    this.#plans.push({ name: this.#prefixes.file + name, sources: [found], shape, ...treatment });
  }

  /** Adds the weight of a module, and its bias if it has one. The shape is columns, rows and the size of a stack. */
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

  embeddings({ embedding, vocabulary }: Shape): void {
    this.linear("token_embd", "model.embed_tokens", [embedding, vocabulary]);
  }

  /** Adds the output matrix, if the folder has one apart from the embeddings. Throws `mlx_missing` if it must (`isTied` false). */
  output({ embedding, vocabulary }: Shape, isTied: boolean | undefined): void {
    if (isTied === false || this.has("lm_head.weight"))
      this.linear("output", "lm_head", [embedding, vocabulary]);
  }

  /** All plans. Throws `mlx_unsupported` if tensors of the folder were not used. */
  end(): readonly TensorPlan[] {
    const unknown = [...this.#names].filter((name) => !this.#used.has(name) && !UNUSED.test(name));
    if (unknown.length === 0) return this.#plans;
    const named = unknown.slice(0, NAMED_MAX).join(", ");
    throw new MlxError(
      "mlx_unsupported",
      `The folder has ${unknown.length} tensors that do not belong to a language model of its type, such as ${named}. ` +
        "Without them it would be another model.",
    );
  }
}
