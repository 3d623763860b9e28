// Keeps the events published since the stream began, for later subscribers. They begin with AllBlocksCleared and all blocks at
// that time, so that the whole log describes the whole cache. The publisher starts over when the log is too long.
import { encodeMessage } from "./zmtp.ts";

export interface LoggedEvents {
  readonly topic: string;
  readonly sequence: number;
  /** Topic, sequence number and payload, as they go over the wire. */
  readonly message: Buffer;
}

export class EventLog {
  #events: LoggedEvents[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** Events are numbered from 0. */
  add(topic: string, payload: Uint8Array): LoggedEvents {
    const sequence = this.#events.length;
    const frames = [Buffer.from(topic), sequenceFrame(BigInt(sequence)), payload];
    const events = { topic, sequence, message: encodeMessage(frames) };
    this.#events.push(events);
    this.#bytes += events.message.length;
    return events;
  }

  /** The events from this number on. */
  from(sequence: number): readonly LoggedEvents[] {
    return this.#events.slice(sequence);
  }

  clear(): void {
    this.#events = [];
    this.#bytes = 0;
  }
}

/** 8 bytes, big-endian. */
export function sequenceFrame(sequence: bigint): Buffer {
  const frame = Buffer.alloc(8);
  frame.writeBigUInt64BE(sequence);
  return frame;
}
