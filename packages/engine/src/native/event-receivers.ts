// Passes what an engine reports to those who wait for it.
import type { KvBlockReports } from "./kv-blocks.ts";
import { toMemoryBytes } from "../base/memory-bytes.ts";
import { toEngineError, type NativeBlocksEvent, type NativeErrorEvent, type NativeEvent } from "./addon.ts";

/** The receivers of an engine's events: requests by their ids, and the follower of its KV blocks. */
export interface EventReceivers {
  readonly listeners: Map<number, (event: NativeEvent) => void>;
  readonly blocks: KvBlockReports;
}

/** Passes the events of one step to their receivers. The native side calls this at most once per step. */
export function deliver(
  events: readonly (NativeEvent | NativeBlocksEvent)[],
  { listeners, blocks }: EventReceivers,
): void {
  for (const event of events) {
    if (event.type === "blocks") {
      blocks.deliver(event);
      continue;
    }
    const listener = listeners.get(event.id);
    if (endsRequest(event)) listeners.delete(event.id);
    listener?.(event);
  }
}

/** The error of a request that failed. */
export function toRequestError({ message, neededMemory, ...error }: NativeErrorEvent): unknown {
  const memory = neededMemory === undefined ? {} : { neededMemory: toMemoryBytes(neededMemory) };
  return toEngineError(Object.assign(new Error(message), error, memory));
}

/** Whether this is the last event of its request. */
export function endsRequest({ type }: NativeEvent): boolean {
  return type !== "text" && type !== "prompt";
}
