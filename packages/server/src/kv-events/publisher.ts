// Publishes which blocks of tokens this server could reuse, as vLLM does over ZeroMQ: routers that follow it send a prompt to
// where its beginning is computed. Opened by serve.ts, and told by the registry which models are loaded.
//
// A stream begins with AllBlocksCleared and everything that there is, numbered from 0. It begins anew when its log has become
// long, and when a model goes: for the number tells routers that they have missed something, or that this is a new beginning.
import type { KvBlockFollower, KvBlockReport, Model } from "@ingle/engine";
import { networkAddresses } from "../address.ts";
import { ConfigError, type ServerConfig } from "../config.ts";
import type { ModelRegistry } from "../models/registry.ts";
import { EventLog } from "./event-log.ts";
import { bindReplaySocket, EventSocket } from "./event-sockets.ts";
import { clearedPayload, reportPayload } from "./payload.ts";
import type { BoundSocket, TcpEndpoint } from "./zmtp.ts";

/** Kept for those who come later; of 3 million tokens. Where there are more, twice what is needed for all of them. */
const logBytesMax = 16 * 1024 * 1024;
/** Of a block of 64 tokens with its hash, at most. */
const bytesPerBlock = 400;

/** What is asked of a model. */
export type ReportingModel = Pick<Model, "followKvBlocks"> & {
  readonly info: Pick<Model["info"], "reportsKvBlocks">;
};

/** A loaded one. */
interface Source {
  readonly topic: string;
  readonly follower: KvBlockFollower;
  /** It has told everything since the stream began. */
  isCurrent: boolean;
  /** That can be reused. */
  blocks: number;
}

export interface KvEventOptions {
  /** By which routers know this server: `address:port`. */
  pod: string;
  publish: TcpEndpoint;
  replay?: TcpEndpoint | undefined;
  logBytesMax?: number | undefined;
  /** Bytes that one subscriber may have to take beside the log. */
  unsentMax?: number | undefined;
}

export class KvEventPublisher implements AsyncDisposable {
  readonly #options: KvEventOptions;
  readonly #log = new EventLog();
  readonly #sources = new Map<string, Source>();
  /** All that this stream or one before it has used. */
  readonly #topics = new Set<string>();
  #events: EventSocket | undefined;
  #replay: BoundSocket | undefined;

  private constructor(options: KvEventOptions) {
    this.#options = options;
  }

  /** Rejects with what listening fails with. */
  static async open(options: KvEventOptions): Promise<KvEventPublisher> {
    const publisher = new KvEventPublisher(options);
    try {
      publisher.#events = await EventSocket.bind(options.publish, publisher.#log, options);
      if (options.replay !== undefined)
        publisher.#replay = await bindReplaySocket(options.replay, publisher.#log);
      return publisher;
    } catch (error) {
      await publisher[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** How many there are. */
  get subscribers(): number {
    return this.#events?.subscribers ?? 0;
  }

  get port(): number {
    return this.#events?.port ?? 0;
  }

  get replayPort(): number | undefined {
    return this.#replay?.port;
  }

  /** A model has been loaded; what it could reuse is published from now on. One that does not report is left out. */
  loaded(id: string, model: ReportingModel): void {
    if (!model.info.reportsKvBlocks) return;
    const topic = `kv@${this.#options.pod}@${id}`;
    this.#topics.add(topic);
    if (this.#log.bytes === 0) this.#begin();
    const follower = model.followKvBlocks((report) => this.#reported(source, report));
    const source: Source = { topic, follower, isCurrent: false, blocks: 0 };
    this.#sources.set(id, source);
  }

  /** It goes, and all that was computed with it. */
  freed(id: string): void {
    const source = this.#sources.get(id);
    if (source === undefined) return;
    source.follower[Symbol.dispose]();
    this.#sources.delete(id);
    if (source.blocks > 0) this.#startOver();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { follower } of this.#sources.values()) follower[Symbol.dispose]();
    this.#sources.clear();
    await this.#events?.[Symbol.asyncDispose]();
    await this.#replay?.[Symbol.asyncDispose]();
  }

  #reported(source: Source, report: KvBlockReport): void {
    // What has changed since something that nobody is told of any more.
    if (!report.isRestated && !source.isCurrent) return;
    // It has told anew without being asked: more has gone than it could keep in mind.
    if (report.isRestated && source.isCurrent) this.#startOver();
    if (report.isRestated) source.blocks = 0;
    source.isCurrent = true;
    for (const { hashes } of report.stored) source.blocks += hashes.length;
    source.blocks -= report.removed.device.length + report.removed.host.length;
    const payload = reportPayload(report, Date.now() / 1000);
    if (payload !== undefined) this.#publish(source.topic, payload);
    if (this.#log.bytes > this.#logBytesMax) this.#startOver();
  }

  get #logBytesMax(): number {
    let blocks = 0;
    for (const source of this.#sources.values()) blocks += source.blocks;
    return Math.max(this.#options.logBytesMax ?? logBytesMax, 2 * bytesPerBlock * blocks);
  }

  /** Everything of before is void: all that there is follows. */
  #startOver(): void {
    this.#log.clear();
    this.#begin();
    for (const source of this.#sources.values()) {
      source.isCurrent = false;
      source.follower.restate();
    }
  }

  /** For each topic, because somebody may follow just that one. */
  #begin(): void {
    for (const topic of this.#topics) this.#publish(topic, clearedPayload(Date.now() / 1000));
  }

  #publish(topic: string, payload: Buffer): void {
    this.#events?.send(this.#log.add(topic, payload));
  }
}

/** Publishes what the models of a registry could reuse. Throws ConfigError where an address cannot be had. */
export async function openKvEvents(
  { host, kvEvents }: Pick<ServerConfig, "host" | "kvEvents">,
  options: { port: number; registry: ModelRegistry; warn: (sentence: string) => void },
): Promise<KvEventPublisher | undefined> {
  if (kvEvents === undefined) return undefined;
  const { publish, replay, pod = ownAddress(host) } = kvEvents;
  const { port, registry, warn } = options;
  const publisher = await KvEventPublisher.open({ publish, replay, pod: `${pod}:${port}` }).catch(
    (cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new ConfigError("--kv-events", `KV-cache events cannot be published: ${why}.`, { cause });
    },
  );
  registry.watch({
    loaded: (id, model) => {
      if (id.includes("@"))
        warn(`Routers cannot tell the KV-cache events of ${id} from others: its name has an @.`);
      publisher.loaded(id, model);
    },
    freed: (id) => publisher.freed(id),
  });
  return publisher;
}

/** Where other machines reach a server on this host, as far as it can be told. */
function ownAddress(host: string): string {
  if (host !== "0.0.0.0" && host !== "::") return host;
  return networkAddresses()[0] ?? "127.0.0.1";
}
