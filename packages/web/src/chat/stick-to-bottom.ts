// Keeps the end of a growing thread in view, but only for those who are at its end.
import { useSignal, type Signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

/** So near to the end counts as being there. */
const nearPx = 60;

export interface Sticking {
  /** What scrolls. */
  frame: RefObject<HTMLDivElement | null>;
  /** What grows inside of it. */
  inner: RefObject<HTMLDivElement | null>;
  isAtBottom: Signal<boolean>;
  toBottom: () => void;
}

/** Begins at the end whenever `key` changes, such as with another conversation. */
export function useStickToBottom(key: string): Sticking {
  const frame = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const isAtBottom = useSignal(true);
  const toBottom = () => {
    isAtBottom.value = true;
    frame.current?.scrollTo({ top: frame.current.scrollHeight });
  };
  useLayoutEffect(toBottom, [key]);
  useEffect(() => {
    const { current: view } = frame;
    const { current: content } = inner;
    if (view === null || content === null) return undefined;
    let lastTop = view.scrollTop;
    const onScroll = () => {
      const { scrollTop, scrollHeight, clientHeight } = view;
      // Content that grows moves the end away, not the person: only scrolling up leaves it.
      if (scrollHeight - scrollTop - clientHeight < nearPx) isAtBottom.value = true;
      else if (scrollTop < lastTop) isAtBottom.value = false;
      lastTop = scrollTop;
    };
    const observer = new ResizeObserver(() => {
      if (isAtBottom.value) view.scrollTop = view.scrollHeight;
    });
    observer.observe(content);
    observer.observe(view);
    view.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      observer.disconnect();
      view.removeEventListener("scroll", onScroll);
    };
  }, []);
  return { frame, inner, isAtBottom, toBottom };
}
