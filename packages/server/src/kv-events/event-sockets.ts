// The two sockets of KV-cache events. PUB: a subscriber gets everything published since the stream began, then what follows.
// ROUTER: replays events from a number on, in the format of vLLM:
//
//   request   "" · number (8 bytes)
//   replies   "" · topic · number · payload, for each event; then "" · "" · -1 · ""
import { sequenceFrame, type EventLog, type LoggedEvents } from "./event-log.ts";
import { bindSocket, encodeMessage, type BoundSocket, type Peer } from "./zmtp.ts";
import type { TcpEndpoint } from "../settings/rules.ts";

/** Maximum number of topics per subscriber. */
const subscriptionsMax = 256;
/** A subscriber with more unsent bytes than this besides the log is disconnected; it can reconnect and get the log. */
const unsentBytesMax = 32 * 1024 * 1024;

interface Subscriber {
  readonly peer: Peer;
  /** Prefixes of topics, one for each subscription. */
  readonly prefixes: string[];
}

export class EventSocket implements AsyncDisposable {
  readonly #log: EventLog;
  readonly #unsentMax: number;
  readonly #subscribers = new Set<Subscriber>();
  #socket: BoundSocket | undefined;

  private constructor(log: EventLog, unsentMax: number) {
    this.#log = log;
    this.#unsentMax = unsentMax;
  }

  static async bind(
    endpoint: TcpEndpoint,
    log: EventLog,
    { unsentMax = unsentBytesMax }: { unsentMax?: number | undefined } = {},
  ): Promise<EventSocket> {
    const events = new EventSocket(log, unsentMax);
    events.#socket = await bindSocket<Subscriber>("PUB", endpoint, {
      opened: (peer) => events.#opened(peer),
      // Until 3.1, a subscription was a message of one frame: 1 or 0, and the topic.
      message: ([frame], subscriber) =>
        frame !== undefined && events.#asked(frame[0], frame.subarray(1), subscriber),
      command: (name, topic, subscriber) => {
        if (name === "SUBSCRIBE") events.#asked(1, topic, subscriber);
        if (name === "CANCEL") events.#asked(0, topic, subscriber);
      },
      closed: (subscriber) => events.#subscribers.delete(subscriber),
    });
    return events;
  }

  get port(): number {
    return this.#socket?.port ?? 0;
  }

  get subscribers(): number {
    return this.#subscribers.size;
  }

  send(events: LoggedEvents): void {
    for (const { peer, prefixes } of this.#subscribers) {
      if (!prefixes.some((prefix) => events.topic.startsWith(prefix))) continue;
      peer.send(events.message);
      if (peer.unsent > this.#unsentMax + this.#log.bytes) peer.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#socket?.[Symbol.asyncDispose]();
  }

  #opened(peer: Peer): Subscriber {
    const subscriber = { peer, prefixes: [] };
    this.#subscribers.add(subscriber);
    return subscriber;
  }

  #asked(kind: number | undefined, topic: Buffer, { peer, prefixes }: Subscriber): void {
    const prefix = topic.toString();
    if (kind === 0) {
      const index = prefixes.indexOf(prefix);
      if (index >= 0) prefixes.splice(index, 1);
    } else if (kind === 1) {
      if (prefixes.length === subscriptionsMax) return peer.close();
      const isNews = ({ topic: told }: LoggedEvents): boolean =>
        told.startsWith(prefix) && !prefixes.some((known) => told.startsWith(known));
      for (const events of this.#log.from(0).filter(isNews)) peer.send(events.message);
      prefixes.push(prefix);
    }
  }
}

/** A peer that requests a replay with more unsent bytes than this is disconnected. */
const unsentReplayBytesMax = 1024 * 1024;

const nothing = new Uint8Array(0);
/** An empty frame that another frame follows. */
const delimiter = Uint8Array.of(1, 0);
const end = encodeMessage([nothing, nothing, sequenceFrame(0xffff_ffff_ffff_ffffn), nothing]);

export async function bindReplaySocket(endpoint: TcpEndpoint, log: EventLog): Promise<BoundSocket> {
  return await bindSocket<Peer>("ROUTER", endpoint, {
    opened: (peer) => peer,
    message: ([empty, number, ...more], peer) => {
      if (
        empty?.length !== 0 ||
        number?.length !== 8 ||
        more.length > 0 ||
        peer.unsent > unsentReplayBytesMax
      )
        return peer.close();
      const first = number.readBigUInt64BE();
      // Larger numbers are after all events.
      const events = first > BigInt(Number.MAX_SAFE_INTEGER) ? [] : log.from(Number(first));
      for (const { message } of events) peer.send(Buffer.concat([delimiter, message]));
      peer.send(end);
    },
    command: () => {},
    closed: () => {},
  });
}
