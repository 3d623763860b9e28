// adapter_config.json, as PEFT and mlx-lm write it: which kind of adapter a folder holds, and by how much its changes are scaled.
// Everything that would make it another model than a plain LoRA adapter is refused.
import { z } from "zod";

import { optional } from "../architectures/settings.ts";
import { MlxError } from "../errors.ts";
import { isObject } from "../json-file.ts";

export interface AdapterSettings {
  kind: "peft" | "mlx";
  /** The factor of a module's change. `rank` is that of its matrices. */
  loraScale: (module: string, rank: number) => number;
}

const factor = z.number().positive().max(1e6);
const byModule = optional(z.record(z.string().max(1024), factor));

/** Fields that are absent, null, false or empty ask for nothing. */
function isUnset(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return (
    value === undefined ||
    value === null ||
    value === false ||
    (isObject(value) && Object.keys(value).length === 0)
  );
}

const Peft = z.object({
  lora_alpha: factor,
  alpha_pattern: byModule,
  use_rslora: optional(z.boolean()),
  bias: optional(z.string()),
  /** Some ways to begin a training change the base's weights too. */
  init_lora_weights: optional(z.union([z.boolean(), z.string()])),
});

const Mlx = z.object({
  fine_tune_type: optional(z.string()),
  lora_parameters: z.object({ rank: z.int().positive(), scale: factor, alpha: optional(z.number()) }),
});

/** Beginnings that leave the base as it is. */
const plainBeginnings = new Set(["gaussian", "eva", "orthogonal"]);

/** Throws `MlxError`: `mlx_malformed` or `mlx_unsupported`. */
export function parseAdapterConfig(json: unknown): AdapterSettings {
  if (!isObject(json)) throw malformed("is not an object");
  return "peft_type" in json ? peftSettings(json) : mlxSettings(json);
}

function peftSettings(json: Readonly<Record<string, unknown>>): AdapterSettings {
  if (json["peft_type"] !== "LORA")
    throw unsupported(`its peft_type is ${JSON.stringify(json["peft_type"])}, not "LORA"`);
  const settings = parseFields(Peft, json);
  checkPeft(json, settings);
  const { lora_alpha: alpha, alpha_pattern: alphas = {}, use_rslora: isRankStabilized = false } = settings;
  return {
    kind: "peft",
    loraScale: (module, rank) => {
      const own = Object.entries(alphas).find(([pattern]) => isNamed(module, pattern))?.[1];
      return (own ?? alpha) / (isRankStabilized ? Math.sqrt(rank) : rank);
    },
  };
}

/** Fields that ask for something else. */
const reasons = {
  use_dora: "it is a DoRA adapter (use_dora)",
  use_qalora: "it is a QALoRA adapter (use_qalora)",
  modules_to_save: "it replaces whole modules of the base (modules_to_save)",
  trainable_token_indices: "it changes token embeddings (trainable_token_indices)",
  target_parameters: "it changes parameters that are no linear layers (target_parameters)",
  layer_replication: "it repeats layers of the base (layer_replication)",
  fan_in_fan_out: "its matrices are transposed (fan_in_fan_out)",
  lora_bias: "it has biases (lora_bias)",
  alora_invocation_tokens:
    "it is an activated LoRA, which works only after certain tokens (alora_invocation_tokens)",
};

function checkPeft(json: Readonly<Record<string, unknown>>, settings: z.output<typeof Peft>): void {
  for (const [field, reason] of Object.entries(reasons)) if (!isUnset(json[field])) throw unsupported(reason);
  const { bias = "none", init_lora_weights: beginning = true } = settings;
  if (bias !== "none") throw unsupported(`it changes biases of the base (bias: ${bias})`);
  if (typeof beginning === "string" && !plainBeginnings.has(beginning))
    throw unsupported(`it belongs to changed weights of the base (init_lora_weights: ${beginning})`);
}

/** PEFT's patterns are the ends of names, or regular expressions. Text from a file is not run as one. */
function isNamed(module: string, pattern: string): boolean {
  const literal = pattern.replace(/^\^|\$$/g, "").replaceAll("\\.", ".");
  if (!/^[\w.]+$/.test(literal))
    throw unsupported(`its alpha_pattern has the expression ${JSON.stringify(pattern)}`);
  return module === literal || module.endsWith(`.${literal}`);
}

function mlxSettings(json: Readonly<Record<string, unknown>>): AdapterSettings {
  const { fine_tune_type: type = "lora", lora_parameters: parameters } = parseFields(Mlx, json);
  if (type !== "lora") throw unsupported(`its fine_tune_type is ${JSON.stringify(type)}, not "lora"`);
  const { rank, scale, alpha = rank } = parameters;
  if (alpha !== rank)
    throw unsupported(
      "its alpha means different scales to different versions of mlx-lm; set alpha to the rank, and scale to the factor",
    );
  return { kind: "mlx", loraScale: () => scale };
}

function parseFields<T>(schema: z.ZodType<T>, json: unknown): T {
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw malformed(`is not valid: ${issue === undefined ? "" : `${issue.path.join(".")}: ${issue.message}`}`);
}

function malformed(what: string): MlxError {
  return new MlxError("mlx_malformed", `adapter_config.json ${what}.`);
}

function unsupported(reason: string): MlxError {
  return new MlxError("mlx_unsupported", `The adapter is not a plain LoRA adapter: ${reason}.`);
}
