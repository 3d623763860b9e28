// Small indicators: badges, progress bars, gauges, and lists of facts.
import type { ComponentChildren } from "preact";

import "./indicators.css";

export type Tone = "plain" | "accent" | "good" | "warn" | "bad";

interface BadgeProps {
  tone?: Tone;
  title?: string;
  children: ComponentChildren;
}

/** A short label, such as a format or a state. */
export function Badge({ tone = "plain", title, children }: BadgeProps) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}

interface ProgressProps {
  /** The accessible name. */
  label: string;
  /** 0 to 1; null while unknown. */
  value: number | null;
}

export function Progress({ label, value }: ProgressProps) {
  return <progress class="progress" aria-label={label} max={1} value={value ?? undefined} />;
}

/** A share of a whole, such as of the context. Its colour changes at the thresholds. */
export function Gauge({ label, value }: ProgressProps) {
  const share = Math.min(1, Math.max(0, value ?? 0));
  const tone = share >= 0.95 ? "bad" : share >= 0.75 ? "warn" : "good";
  return <progress class={`progress gauge ${tone}`} aria-label={label} max={1} value={share} />;
}

/** A name and what is known under it. */
export type Fact = readonly [name: string, value: ComponentChildren];

interface FactsProps {
  class: string;
  facts: readonly Fact[];
  children?: ComponentChildren;
}

export function Facts({ class: kind, facts, children }: FactsProps) {
  return (
    <dl class={kind}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt class="soft">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      {children}
    </dl>
  );
}
