// Says that the hub did not answer, and that the rest goes on without it.
import { Button } from "../design/button.tsx";
import { strings } from "../strings/strings.ts";

import "./hub-unreachable.css";

/** `message` is the server's sentence. */
export function HubUnreachable({ message, onRetry }: { message: string; onRetry: () => void }) {
  const text = strings.value.library;
  return (
    <div class="card stack unreachable" role="alert">
      <h3>{text.hubUnreachableTitle}</h3>
      <p class="soft">{message}</p>
      <p class="small soft">{text.hubUnreachableText}</p>
      <div>
        <Button icon="retry" onClick={onRetry}>
          {strings.value.app.retry}
        </Button>
      </div>
    </div>
  );
}
