// config.json: what a folder says about its model. Read once, for the architectures and the quantization.
import type { z } from "zod";

import { MlxError } from "./errors.ts";
import { isObject } from "./json-file.ts";

export interface MlxConfig {
  /** `model_type`, such as `llama` or `lfm2`. */
  readonly modelType: string;
  /**
   * The whole file; where it has a `text_config`, as models that also see do, the fields of that come first. Each reader
   * checks the fields that it needs.
   */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Throws `mlx_malformed` for what is no configuration, `mlx_unsupported` for one that asks for code of its own. */
export function parseConfig(json: unknown): MlxConfig {
  if (!isObject(json)) throw new MlxError("mlx_malformed", "config.json is not an object.");
  const modelType = json["model_type"];
  if (typeof modelType !== "string" || !/^[A-Za-z0-9][\w.-]{0,63}$/.test(modelType))
    throw new MlxError("mlx_malformed", "config.json does not say which model_type it is.");
  if (json["model_file"] !== undefined && json["model_file"] !== null) {
    throw new MlxError(
      "mlx_unsupported",
      "config.json names a model_file, Python code that the model needs. Ingle runs no code that comes with a model.",
    );
  }
  const text = json["text_config"];
  return { modelType, fields: isObject(text) ? { ...json, ...text } : json };
}

/** The fields that a schema asks for. Throws `mlx_malformed`, with the first field that is wrong. */
export function readFields<T>(config: MlxConfig, schema: z.ZodType<T>): T {
  const result = schema.safeParse(config.fields);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue === undefined ? "" : `${issue.path.join(".")}: ${issue.message}`;
  throw new MlxError("mlx_malformed", `config.json cannot be that of a ${config.modelType} model: ${field}.`);
}
