// Where a request is, as a word in its colour.
import type { LiveRequest } from "@ingle/protocol";

import { Badge, type Tone } from "../design/badge.tsx";
import { strings } from "../strings/strings.ts";

const tones: Readonly<Record<LiveRequest["status"], Tone>> = {
  waiting: "warn",
  prompt: "accent",
  generating: "accent",
  done: "good",
  failed: "bad",
  cancelled: "plain",
};

export function RequestStatus({ request }: { request: LiveRequest }) {
  const text = strings.value.server.requestStatus;
  const code = request.status === "failed" && request.http_status !== null ? ` ${request.http_status}` : "";
  return (
    <Badge tone={tones[request.status]}>
      {text[request.status]}
      {code}
    </Badge>
  );
}
