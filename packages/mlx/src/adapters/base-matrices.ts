// The matrices of a base model that an adapter may change, by the names that they have in folders of its family. They are those that a
// conversion of the base would write.
import { getString, type GgufMetadata } from "@ingle/gguf";

import type { TensorNames, TensorPlan } from "../architectures/architecture.ts";
import { configOfGguf } from "../architectures/config-of-gguf.ts";
import { architectureNamed } from "../architectures/registry.ts";
import { MlxError } from "../errors.ts";

export interface BaseMatrices {
  /** llama.cpp's name. */
  architecture: string;
  /** By module, such as `model.layers.0.self_attn.q_proj`. */
  matrices: ReadonlyMap<string, TensorPlan>;
}

/** The base's folder is not here, so every tensor that its family may have counts as present. */
const anyName: TensorNames = {
  has: (name) => !name.startsWith("language_model."),
  [Symbol.iterator]: () => [].values(),
};

/** The only matrix that no adapter changes: llama.cpp does not multiply with it. */
const convolution = /\.shortconv\.conv\.weight$/;

/** Throws `mlx_unsupported` for an architecture that cannot be converted, or impossible metadata. */
export function baseMatrices(metadata: GgufMetadata): BaseMatrices {
  const family = architectureNamed(getString(metadata, "general.architecture") ?? "unknown");
  const matrices = new Map<string, TensorPlan>();
  for (const plan of tensorPlans(family, metadata)) {
    const [source = ""] = plan.sources;
    const isMatrix = source.endsWith(".weight") && plan.shape.length === 2 && !convolution.test(plan.name);
    if (isMatrix && plan.name !== "token_embd.weight") matrices.set(source.slice(0, -".weight".length), plan);
  }
  return { architecture: family.name, matrices };
}

function tensorPlans(
  family: ReturnType<typeof architectureNamed>,
  metadata: GgufMetadata,
): readonly TensorPlan[] {
  try {
    return family.plan(configOfGguf(family, metadata), anyName).tensors;
  } catch (cause) {
    if (!(cause instanceof MlxError)) throw cause;
    const message = `The model's metadata do not describe a ${family.name} model that Ingle knows. ${cause.message}`;
    throw new MlxError("mlx_unsupported", message, { cause });
  }
}
