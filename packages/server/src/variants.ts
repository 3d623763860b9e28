// The deployment variants as data: every setting in which they differ.
import type { OptionValues } from "@ingle/generation-options";

export const variantNames = ["desktop", "developer", "command-line", "serverless"] as const;
export type VariantName = (typeof variantNames)[number];

/**
 * The values that a request's `model` may have: an id that `GET /v1/models` lists (`known`), the one id that the
 * server was started with (`given`), or any string (`any`).
 */
export type ModelRule = "known" | "given" | "any";

/**
 * What happens to a request for a model that is not in memory: it waits for the load (`wait`), or gets a 503 (`reject`).
 * `reject-at-start`: requests wait, but get a 503 until a first model has been loaded.
 */
export type OnLoading = "wait" | "reject" | "reject-at-start";

export interface Variant {
  host: string;
  port: number;
  /** Whether the next free port is used if this one is taken. */
  portFallback: boolean;
  modelRule: ModelRule;
  /** Whether a request may leave `model` out. */
  isModelOptional: boolean;
  onLoading: OnLoading;
  /** Defaults of requests. */
  sampling: Partial<OptionValues>;
  /** Whether LM Studio's REST API is served as well. */
  lmStudioApi: boolean;
  /** The model to serve unless --model names another. */
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
    sampling: { topK: 40 },
    lmStudioApi: false,
  },
  developer: {
    host: "127.0.0.1",
    port: 1234,
    portFallback: false,
    modelRule: "any",
    isModelOptional: true,
    onLoading: "reject-at-start",
    sampling: { topK: 40 },
    lmStudioApi: true,
  },
  "command-line": {
    host: "127.0.0.1",
    port: 8080,
    portFallback: false,
    modelRule: "given",
    isModelOptional: true,
    onLoading: "reject-at-start",
    sampling: { topK: 50 },
    lmStudioApi: false,
  },
  serverless: {
    host: "0.0.0.0",
    port: 8000,
    portFallback: false,
    modelRule: "known",
    isModelOptional: true,
    onLoading: "reject-at-start",
    sampling: { topK: 50 },
    lmStudioApi: false,
    model: "LiquidAI/LFM2-8B-A1B",
  },
};
