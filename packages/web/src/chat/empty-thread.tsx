// An empty chat: a greeting, or the first run while no model is installed.
import { useState } from "preact/hooks";

import { live, models } from "../connection/connection.ts";
import { Icon } from "../design/icon.tsx";
import { isFirstRun } from "../first-run/first-run-flow.ts";
import { FirstRun } from "../first-run/first-run.tsx";
import { strings } from "../strings/strings.ts";
import { changeChoice } from "./current-chat.ts";

export function EmptyThread() {
  const text = strings.value.chat;
  // Once begun, the first run ends with the user's click, not when the model arrives.
  const [isBegun, setBegun] = useState(false);
  const isFirst = live.value !== null && isFirstRun(models.value);
  if (isFirst && !isBegun) setBegun(true);
  if (isFirst || isBegun) {
    return (
      <FirstRun
        onChat={(model) => {
          setBegun(false);
          void changeChoice({ models: [model] });
          document.querySelector<HTMLElement>("#composer-text")?.focus();
        }}
      />
    );
  }
  return (
    <div class="greeting">
      <span class="greeting-mark">
        <Icon name="app" size={40} />
      </span>
      <h1>{text.greeting}</h1>
      <p class="soft">{text.greetingHint}</p>
    </div>
  );
}
