// A short label, such as a format or a state.
import type { ComponentChildren } from "preact";

import "./badge.css";

export type Tone = "plain" | "accent" | "good" | "warn" | "bad";

export function Badge({
  tone = "plain",
  title,
  children,
}: {
  tone?: Tone;
  title?: string;
  children: ComponentChildren;
}) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}
