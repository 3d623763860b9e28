// The list of all families.
import type { MlxConfig } from "../config.ts";
import { MlxError } from "../errors.ts";
import type { Architecture } from "./architecture.ts";
import { gemma, gemma2, gemma3 } from "./gemma.ts";
import { lfm2, lfm2Moe } from "./lfm2.ts";
import { llama } from "./llama.ts";
import { phi3 } from "./phi3.ts";
import { qwen2, qwen3, qwen3Moe } from "./qwen.ts";

const architectures: readonly Architecture[] = [
  llama,
  qwen2,
  qwen3,
  qwen3Moe,
  gemma,
  gemma2,
  gemma3,
  phi3,
  lfm2,
  lfm2Moe,
];

/** The family of a configuration. Throws `mlx_unsupported`. */
export function findArchitecture({ modelType }: MlxConfig): Architecture {
  const found = architectures.find(({ modelTypes }) => modelTypes.includes(modelType));
  if (found !== undefined) return found;
  const known = architectures.flatMap(({ modelTypes }) => modelTypes).join(", ");
  throw new MlxError(
    "mlx_unsupported",
    `Models of the type ${modelType} cannot be converted. Supported types: ${known}.`,
  );
}

/** The family of a GGUF file's `general.architecture`. Throws `mlx_unsupported`. */
export function architectureNamed(name: string): Architecture {
  const found = architectures.find((architecture) => architecture.name === name);
  if (found !== undefined) return found;
  throw new MlxError(
    "mlx_unsupported",
    `Adapters of ${name} models cannot be converted. Supported: ${architectures.map((one) => one.name).join(", ")}.`,
  );
}
