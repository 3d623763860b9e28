// What a view shows instead of content: why it is empty, and what to do next.
import type { ComponentChildren } from "preact";

import { Icon, type IconName } from "./icon.tsx";

interface EmptyStateProps {
  icon: IconName;
  title: string;
  text?: ComponentChildren;
  children?: ComponentChildren;
}

export function EmptyState({ icon, title, text, children }: EmptyStateProps) {
  return (
    <div class="empty-state">
      <span class="empty-icon">
        <Icon name={icon} size={28} />
      </span>
      <h2>{title}</h2>
      {text !== undefined && <p class="soft">{text}</p>}
      {children}
    </div>
  );
}

/** A text in which words in backticks are shown as code. */
export function CodeWords({ text }: { text: string }) {
  return (
    <>
      {text
        .split("`")
        .map((part, index) => (index % 2 === 1 ? <code key={`${index}${part}`}>{part}</code> : part))}
    </>
  );
}
