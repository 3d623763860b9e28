// Whether the figures of a reply, such as its speed and tokens, are shown under it.
import { signal } from "@preact/signals";

const storageKey = "ingle-figures";

export const showsFigures = signal(localStorage.getItem(storageKey) !== "hidden");

/** Changes it, and remembers it in this browser. */
export function showFigures(isShown: boolean): void {
  localStorage.setItem(storageKey, isShown ? "shown" : "hidden");
  showsFigures.value = isShown;
}
