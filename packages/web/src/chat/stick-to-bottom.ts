// Keeps the end of a growing thread in view, unless the user has scrolled up.
import { useSignal, type Signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

/** Closer than this counts as being at the end. */
const nearPx = 60;

interface Sticking {
  /** The scrolling element. */
  frame: RefObject<HTMLDivElement | null>;
  /** The growing content inside it. */
  inner: RefObject<HTMLDivElement | null>;
  isAtBottom: Signal<boolean>;
  toBottom: () => void;
}

/** Scrolls to the end whenever `key` changes, such as with another conversation. */
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
      // Growing content also moves the end away; only scrolling up means that the user left it.
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
