// The hardware of the server, as of the last request.
import type { Machine } from "@ingle/protocol";
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { client } from "../connection/client.ts";
import { link } from "../connection/connection.ts";

/** `null` until the server has reported it, and if this page may not read it. */
export const machine = signal<Machine | null>(null);

let asking: Promise<void> | undefined;

/** Reads it again; at most one request at a time. On failure, the old state stays. */
function refreshMachine(): Promise<void> {
  asking ??= ask();
  return asking;
}

async function ask(): Promise<void> {
  try {
    machine.value = await client.machine.get();
  } catch {
    // Every place that shows the machine can do without it.
  } finally {
    asking = undefined;
  }
}

/** Free memory and disk space change slowly. */
const refreshMs = 10_000;

/** The machine, refreshed while the component is mounted. */
export function useMachine(): Machine | null {
  const isOpen = link.value === "open";
  useEffect(() => {
    if (!isOpen) return undefined;
    void refreshMachine();
    const timer = setInterval(() => void refreshMachine(), refreshMs);
    return () => clearInterval(timer);
  }, [isOpen]);
  return machine.value;
}
