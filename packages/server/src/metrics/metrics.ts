// Everything that `GET /metrics` returns, in the text format of Prometheus. Each server has its own registry, so that two
// servers in one process do not mix.
import { Registry } from "prom-client";
import type { ModelRegistry } from "../models/registry.ts";
import { AdapterUses, RequestMetrics } from "./request-metrics.ts";
import type { KeyMeters } from "../access/key-usage.ts";
import { addEngineMetrics } from "./engine-metrics.ts";
import { addKeyMetrics } from "./key-metrics.ts";
import { addProcessMetrics } from "./process-metrics.ts";
import { addVllmAdapterMetric, addVllmMetrics } from "./vllm-metrics.ts";

/** Gateways may each scrape every 50 ms; all scrapes within that time share one text. */
const freshMs = 50;

export class Metrics implements Disposable {
  readonly requests: RequestMetrics;
  readonly adapters = new AdapterUses();
  readonly #register = new Registry();
  #ready: { text: Promise<string>; at: number } | undefined;
  /** Adds the metric once there are adapters; undefined if it is there or not wanted. */
  #addAdapterMetric: (() => void) | undefined;
  readonly #process: Disposable;

  /** @param options.compat adds metrics under the names of another server */
  constructor(models: ModelRegistry, options: { compat?: "vllm" | undefined; meters: KeyMeters }) {
    this.requests = new RequestMetrics(this.#register);
    addEngineMetrics(this.#register, models);
    addKeyMetrics(this.#register, options.meters);
    if (options.compat === "vllm") {
      addVllmMetrics(this.#register, models, this.requests);
      this.#addAdapterMetric = () => {
        if (models.slots.every((slot) => slot.adapters.length === 0)) return;
        addVllmAdapterMetric(this.#register, models, this.adapters);
        this.#addAdapterMetric = undefined;
      };
    }
    this.#process = addProcessMetrics(this.#register);
  }

  get contentType(): string {
    return this.#register.contentType;
  }

  /** All metrics, at most 50 ms old. */
  async text(): Promise<string> {
    this.#addAdapterMetric?.();
    const now = performance.now();
    if (this.#ready === undefined || now - this.#ready.at >= freshMs)
      this.#ready = { text: this.#register.metrics(), at: now };
    return this.#ready.text;
  }

  /** Stops measuring the event loop. Idempotent. */
  [Symbol.dispose](): void {
    this.#process[Symbol.dispose]();
  }
}
