// Renders a long chat from its end: the messages in sight at once, the others in small steps, so that the page never blocks.
import { useEffect, useState } from "preact/hooks";

/** More than a screen has. */
const atOnce = 24;
/** Messages of one step: a few milliseconds each at most. */
const perStep = 12;

/** How many of the last `count` messages to render now; grows to all of them. Begins again with another `key`, such as the chat's id. */
export function useLatestFirst(key: string, count: number): number {
  const [state, setState] = useState({ key, rendered: atOnce });
  const rendered = state.key === key ? state.rendered : atOnce;
  useEffect(() => {
    if (rendered >= count) return undefined;
    // A task of its own: keys and frames come between two steps.
    const timer = setTimeout(() => setState({ key, rendered: rendered + perStep }));
    return () => clearTimeout(timer);
  }, [key, rendered, count]);
  return Math.min(rendered, count);
}
