// All that `GET /metrics` tells, in Prometheus' text form. Made by app.ts; a server has its own, so that two of them in
// one process do not mix.
import { Registry } from "prom-client";
import type { ModelRegistry } from "../models/registry.ts";
import { addEngineMetrics } from "./engine-metrics.ts";
import { addProcessMetrics } from "./process-metrics.ts";
import { RequestMetrics } from "./request-metrics.ts";
import { addVllmMetrics } from "./vllm-metrics.ts";

/** Gateways ask every 50 ms, each of them: more often than that nothing is gathered and written out. */
const freshMs = 50;

export class Metrics implements Disposable {
  readonly requests: RequestMetrics;
  readonly #register = new Registry();
  #ready: { text: Promise<string>; at: number } | undefined;
  readonly #process: Disposable;

  /** @param options.compat whose names are added to ours */
  constructor(models: ModelRegistry, options: { compat?: "vllm" | undefined } = {}) {
    this.requests = new RequestMetrics(this.#register);
    addEngineMetrics(this.#register, models);
    if (options.compat === "vllm") addVllmMetrics(this.#register, models, this.requests);
    this.#process = addProcessMetrics(this.#register);
  }

  get contentType(): string {
    return this.#register.contentType;
  }

  /** Every metric, as it was at most 50 ms ago. */
  async text(): Promise<string> {
    const now = performance.now();
    if (this.#ready === undefined || now - this.#ready.at >= freshMs)
      this.#ready = { text: this.#register.metrics(), at: now };
    return this.#ready.text;
  }

  /** Ends the measuring of the event loop. Idempotent. */
  [Symbol.dispose](): void {
    this.#process[Symbol.dispose]();
  }
}
