// config.json, the settings of a folder's model.
import type { z } from "zod";

import { MlxError } from "./errors.ts";
import { isObject } from "./json-file.ts";

export interface MlxConfig {
  /** `model_type`, such as `llama` or `lfm2`. */
  readonly modelType: string;
  /**
   * The whole file; the fields of a `text_config`, which vision models have, take precedence. Each reader checks the fields
   * that it needs.
   */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Throws `mlx_malformed` without a valid `model_type`, and `mlx_unsupported` for a model that brings its own code. */
export function parseConfig(json: unknown): MlxConfig {
  if (!isObject(json)) throw new MlxError("mlx_malformed", "config.json is not an object.");
  const modelType = json["model_type"];
  if (typeof modelType !== "string" || !/^[A-Za-z0-9][\w.-]{0,63}$/.test(modelType))
    throw new MlxError("mlx_malformed", "config.json has no valid model_type.");
  if (json["model_file"] !== undefined && json["model_file"] !== null) {
    throw new MlxError(
      "mlx_unsupported",
      "config.json names a model_file with Python code that the model needs. Ingle does not run code that comes with a model.",
    );
  }
  const text = json["text_config"];
  return { modelType, fields: isObject(text) ? { ...json, ...text } : json };
}

/** The fields of a schema. Throws `mlx_malformed`, which names the first wrong field. */
export function readFields<T>(config: MlxConfig, schema: z.ZodType<T>): T {
  const result = schema.safeParse(config.fields);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue === undefined ? "" : `${issue.path.join(".")}: ${issue.message}`;
  throw new MlxError("mlx_malformed", `config.json is not valid for a ${config.modelType} model: ${field}.`);
}
