// A long list of rows of equal height, of which only the visible ones are rendered.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import "./windowed-list.css";

interface WindowedListProps<Row> {
  /** The accessible name. */
  label: string;
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  children: (row: Row) => ComponentChildren;
  /** The key of a row to scroll into view when it changes. */
  shownKey?: string | undefined;
}

/** Extra rows above and below the visible ones, for fast scrolling and for the keyboard. */
const overscan = 8;

export function WindowedList<Row>({ label, rows, rowKey, children, shownKey }: WindowedListProps<Row>) {
  const frame = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 0, row: 1 });
  const measure = () => {
    const { current } = frame;
    if (current === null) return;
    const row = Number.parseFloat(getComputedStyle(current).getPropertyValue("--row-px"));
    setView({ top: current.scrollTop, height: current.clientHeight, row: Number.isFinite(row) ? row : 1 });
  };
  const follow = () => {
    const top = frame.current?.scrollTop ?? 0;
    // The rendered rows cover a small move.
    setView((before) => (isNear(before.top, top, before.row) ? before : { ...before, top }));
  };
  useLayoutEffect(measure, []);
  useEffect(() => {
    const observer = new ResizeObserver(measure);
    if (frame.current !== null) observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const at = rows.findIndex((row) => rowKey(row) === shownKey);
    if (at >= 0 && frame.current !== null) scrollTo(frame.current, at * view.row, view.row);
  }, [shownKey, view.row]);
  const first = Math.max(0, Math.floor(view.top / view.row) - overscan);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / view.row) + overscan);
  return (
    <div ref={frame} class="windowed-list" onScroll={follow}>
      <Space rows={first} rowPx={view.row} />
      <ul aria-label={label}>
        {rows.slice(first, last).map((row, at) => (
          <li key={rowKey(row)} aria-setsize={rows.length} aria-posinset={first + at + 1}>
            {children(row)}
          </li>
        ))}
      </ul>
      <Space rows={rows.length - last} rowPx={view.row} />
    </div>
  );
}

function isNear(before: number, top: number, row: number): boolean {
  const step = row * (overscan / 2);
  return Math.floor(before / step) === Math.floor(top / step);
}

/** Takes the place of rows that are not rendered. Its height is set by script: the policy forbids style attributes. */
function Space({ rows, rowPx }: { rows: number; rowPx: number }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (place.current !== null) place.current.style.height = `${rows * rowPx}px`;
  }, [rows, rowPx]);
  return <div ref={place} aria-hidden="true" />;
}

function scrollTo(frame: HTMLElement, top: number, height: number): void {
  if (top < frame.scrollTop) frame.scrollTop = top;
  else if (top + height > frame.scrollTop + frame.clientHeight)
    frame.scrollTop = top + height - frame.clientHeight;
}
