// The four deployment variants as data: everything in which they differ, and nothing else.
// Read by config.ts (defaults), models/registry.ts (which model ids are accepted) and answering/to-sampling.ts (top_k).
import { z } from "zod";

const variantNames = ["desktop", "developer", "command-line", "serverless"] as const;

export const VariantName = z
  .enum(variantNames, `must be one of ${variantNames.join(", ")}`)
  .meta({ id: "VariantName" });
export type VariantName = z.infer<typeof VariantName>;

/**
 * Which values of a request's `model` are accepted: an id that `GET /v1/models` lists (`known`), the one id that the
 * server was started with (`given`), or any string (`any`).
 */
export type ModelRule = "known" | "given" | "any";

/**
 * What becomes of a request for a model that is not in memory: it waits until the model is loaded (`wait`) or is told to
 * come back (`reject`). `reject-at-start`: it waits, but is told to come back until a first model was loaded.
 */
export type OnLoading = "wait" | "reject" | "reject-at-start";

export interface Variant {
  host: string;
  port: number;
  /** When the port is taken, the next free one is used and reported. */
  portFallback: boolean;
  modelRule: ModelRule;
  /** A request may leave `model` out: there is one that it can mean. */
  isModelOptional: boolean;
  onLoading: OnLoading;
  /** `top_k` of a request that does not say. */
  topK: number;
  /** The model that is served when nothing names one; absent where a starter model or a choice takes that place. */
  model?: string;
}

export const variants: Readonly<Record<VariantName, Variant>> = {
  desktop: {
    host: "127.0.0.1",
    port: 1337,
    portFallback: true,
    modelRule: "known",
    isModelOptional: false,
    onLoading: "wait",
    topK: 40,
  },
  developer: {
    host: "127.0.0.1",
    port: 1234,
    portFallback: false,
    modelRule: "any",
    isModelOptional: true,
    onLoading: "reject-at-start",
    topK: 40,
  },
  "command-line": {
    host: "127.0.0.1",
    port: 8080,
    portFallback: false,
    modelRule: "given",
    isModelOptional: true,
    onLoading: "reject-at-start",
    topK: 50,
  },
  serverless: {
    host: "0.0.0.0",
    port: 8000,
    portFallback: false,
    modelRule: "known",
    isModelOptional: true,
    onLoading: "reject-at-start",
    topK: 50,
    model: "LiquidAI/LFM2-8B-A1B",
  },
};
