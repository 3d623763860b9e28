// All that `GET /metrics` tells, in Prometheus' text form. Made by app.ts; a server has its own, so that two of them in
// one process do not mix.
import { Registry } from "prom-client";
import type { ModelRegistry } from "../models/registry.ts";
import { addEngineMetrics } from "./engine-metrics.ts";
import { addProcessMetrics } from "./process-metrics.ts";
import { RequestMetrics } from "./request-metrics.ts";

export class Metrics implements Disposable {
  readonly requests: RequestMetrics;
  readonly #register = new Registry();
  readonly #process: Disposable;

  /** @param options.compat whose names are added to ours */
  constructor(models: ModelRegistry, options: { compat?: "vllm" | undefined } = {}) {
    this.requests = new RequestMetrics(this.#register);
    addEngineMetrics(this.#register, models, { vllmNames: options.compat === "vllm" });
    this.#process = addProcessMetrics(this.#register);
  }

  get contentType(): string {
    return this.#register.contentType;
  }

  /** Every metric as it is now. */
  async text(): Promise<string> {
    return this.#register.metrics();
  }

  /** Ends the measuring of the event loop. Idempotent. */
  [Symbol.dispose](): void {
    this.#process[Symbol.dispose]();
  }
}
