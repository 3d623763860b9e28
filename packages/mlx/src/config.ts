// config.json: what a folder says about its model. Read once, for the architectures and the quantization.
import { MlxError } from "./errors.ts";

export interface MlxConfig {
  /** `model_type`, such as `llama` or `lfm2`. */
  readonly modelType: string;
  /** The whole file. Each reader checks the fields that it needs. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Throws `mlx_malformed` for what is no configuration, `mlx_unsupported` for one that asks for code of its own. */
export function parseConfig(json: unknown): MlxConfig {
  if (typeof json !== "object" || json === null || Array.isArray(json))
    throw new MlxError("mlx_malformed", "config.json is not an object.");
  const fields = { ...json } as Readonly<Record<string, unknown>>; // an object of JSON has nothing but such fields
  const modelType = fields["model_type"];
  if (typeof modelType !== "string" || !/^[A-Za-z0-9][\w.-]{0,63}$/.test(modelType))
    throw new MlxError("mlx_malformed", "config.json does not say which model_type it is.");
  if (fields["model_file"] !== undefined && fields["model_file"] !== null) {
    throw new MlxError(
      "mlx_unsupported",
      "config.json names a model_file, Python code that the model needs. Ingle runs no code that comes with a model.",
    );
  }
  return { modelType, fields };
}
