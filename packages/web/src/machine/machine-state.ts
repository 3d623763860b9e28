// What the server runs on, as it was when it was last asked. Parts of the page that show it ask anew.
import type { Machine } from "@ingle/protocol";
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { client } from "../connection/client.ts";
import { link } from "../connection/connection.ts";

/** `null` until the server has told it, or where this page has no right to know. */
export const machine = signal<Machine | null>(null);

let asking: Promise<void> | undefined;

/** Asks the server, once at a time. What cannot be told now stays as it was. */
export function refreshMachine(): Promise<void> {
  asking ??= ask();
  return asking;
}

async function ask(): Promise<void> {
  try {
    machine.value = await client.machine.get();
  } catch {
    // The page works without it: each place that shows the machine says when it is not known.
  } finally {
    asking = undefined;
  }
}

/** Free memory and disk change slowly, and asking costs the server little. */
const refreshMs = 10_000;

/** Keeps the machine's figures fresh while a component is shown. */
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
