// Counters and histograms of requests and generations.
import { Counter, Histogram, type Registry } from "prom-client";

/** Buckets in seconds, from a cached probe to a long reply on a small machine. */
const requestBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600];
/** Buckets in seconds, from a cached prompt on a GPU to a long one on two cores after a queue. */
const firstTokenBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160];
/** Buckets in seconds, from a small model on a GPU to a stall that a person notices. */
const interTokenBuckets = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1, 2.5];

export interface EndedRequest {
  method: string;
  /** The route's pattern, never the requested path: the number of paths is unlimited. */
  route: string;
  status: number;
  seconds: number;
}

/** Measures one generation. */
interface GenerationMeter {
  firstToken(seconds: number): void;
  /** Time between two pieces of text, for each token of the second. */
  interToken(seconds: number): void;
  /** Number of prompt tokens that did not have to be computed. */
  cached(tokens: number): void;
}

export class RequestMetrics {
  readonly #requests: Counter<"method" | "route" | "status">;
  readonly #seconds: Histogram<"route">;
  readonly #firstToken: Histogram<"model">;
  readonly #interToken: Histogram<"model">;
  readonly #cached: Counter<"model">;

  constructor(register: Registry) {
    const registers = [register];
    const model = ["model"] as const;
    this.#requests = new Counter({
      name: "ingle_requests_total",
      help: "Requests that have ended; status 499 means that the client disconnected.",
      labelNames: ["method", "route", "status"],
      registers,
    });
    this.#seconds = new Histogram({
      name: "ingle_request_seconds",
      help: "From the arrival of a request to the end of its response.",
      labelNames: ["route"],
      buckets: requestBuckets,
      registers,
    });
    this.#firstToken = new Histogram({
      name: "ingle_time_to_first_token_seconds",
      help: "From the arrival of a request to its first generated token.",
      labelNames: model,
      buckets: firstTokenBuckets,
      registers,
    });
    this.#interToken = new Histogram({
      name: "ingle_inter_token_seconds",
      help: "Time between two pieces of generated text, for each token of the second.",
      labelNames: model,
      buckets: interTokenBuckets,
      registers,
    });
    this.#cached = new Counter({
      name: "ingle_prompt_tokens_cached_total",
      help: "Tokens of prompts that did not have to be computed again.",
      labelNames: model,
      registers,
    });
  }

  ended({ method, route, status, seconds }: EndedRequest): void {
    this.#requests.inc({ method, route, status });
    this.#seconds.observe({ route }, seconds);
  }

  /** Tokens of prompts that did not have to be computed, by the id of the model. */
  async cachedTokens(): Promise<Map<string, number>> {
    const { values } = await this.#cached.get();
    return new Map(values.map(({ labels, value }) => [String(labels.model), value]));
  }

  /** `model` is the id of a known model, never the name in a request: the number of names is unlimited. */
  meter(model: string): GenerationMeter {
    const firstToken = this.#firstToken.labels(model);
    const interToken = this.#interToken.labels(model);
    return {
      firstToken: (seconds) => firstToken.observe(seconds),
      interToken: (seconds) => interToken.observe(seconds),
      cached: (tokens) => this.#cached.inc({ model }, tokens),
    };
  }
}

/** One generation's use of its adapters; disposing ends it. */
interface AdapterUse extends Disposable {
  /** It has its first token. */
  run(): void;
}

/** Which adapters requests wait for and run with, for gateways that send requests where their adapter is. */
export class AdapterUses {
  readonly #waiting = new Counts();
  readonly #running = new Counts();

  /** Ids of adapters that only waiting requests use. */
  get waiting(): string[] {
    return this.#waiting.names.filter((name) => !this.#running.names.includes(name));
  }

  get running(): string[] {
    return this.#running.names;
  }

  wait(adapters: readonly string[]): AdapterUse {
    let present: Counts | undefined;
    const move = (next: Counts | undefined): void => {
      present?.add(adapters, -1);
      present = next;
      present?.add(adapters, 1);
    };
    move(this.#waiting);
    return { run: () => move(this.#running), [Symbol.dispose]: () => move(undefined) };
  }
}

class Counts {
  readonly #counts = new Map<string, number>();

  get names(): string[] {
    return [...this.#counts.keys()];
  }

  add(names: readonly string[], change: number): void {
    for (const name of names) {
      const count = (this.#counts.get(name) ?? 0) + change;
      if (count === 0) this.#counts.delete(name);
      else this.#counts.set(name, count);
    }
  }
}
