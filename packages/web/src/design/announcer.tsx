// Says to screen readers what happened elsewhere on the page, politely: after what they are reading.
import { signal } from "@preact/signals";

const said = signal("");

/** Says a sentence; the same one again is said again. */
export function announce(sentence: string): void {
  // A text that does not change is not read: a space that nobody hears makes it another one.
  said.value = sentence === said.value ? `${sentence}\u00a0` : sentence;
}

/** Where it is said; once in the page. */
export function Announcer() {
  return (
    <p class="visually-hidden" role="status">
      {said.value}
    </p>
  );
}
