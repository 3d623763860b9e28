// Every family of models that can be converted.
import type { MlxConfig } from "../config.ts";
import { MlxError } from "../errors.ts";
import type { Architecture } from "./architecture.ts";

const architectures: readonly Architecture[] = [];

/** The family that the configuration belongs to. Throws `mlx_unsupported`, with the families that there are. */
export function architectureOf({ modelType }: MlxConfig): Architecture {
  const found = architectures.find(({ modelTypes }) => modelTypes.includes(modelType));
  if (found !== undefined) return found;
  const known = architectures.flatMap(({ modelTypes }) => modelTypes).join(", ");
  throw new MlxError(
    "mlx_unsupported",
    `Models of the type ${modelType} cannot be converted. Types that can: ${known}.`,
  );
}
