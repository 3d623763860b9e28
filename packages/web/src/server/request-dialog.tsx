// The details of a request; its bodies are available only while they are kept.
import type { LiveRequest } from "@ingle/protocol";

import { Badge, type Tone } from "../design/badge.tsx";
import { CopyButton } from "../design/copy-button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { countText, durationText, momentText, rateText } from "../format/in-language.ts";
import { strings } from "../strings/strings.ts";

interface RequestDialogProps {
  request: LiveRequest;
  keepsBodies: boolean;
  onClose: () => void;
}

export function RequestDialog({ request, keepsBodies, onClose }: RequestDialogProps) {
  const text = strings.value.server;
  const hasBodies = request.body !== null || request.answer !== null;
  return (
    <Dialog title={text.requestTitle} isOpen onClose={onClose} size="wide">
      <dl class="request-details">
        <div>
          <dt class="soft">{text.detail.status}</dt>
          <dd>
            <RequestStatus request={request} />
          </dd>
        </div>
        {rowsOf(request).map(([name, value]) => (
          <div key={name}>
            <dt class="soft">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {request.body !== null && <Body title={text.body} copy={text.copyBody} content={request.body} />}
      {request.answer !== null && (
        <Body title={text.answer} copy={text.copyAnswer} content={request.answer} />
      )}
      {!hasBodies && !keepsBodies && <p class="small soft">{text.bodiesOff}</p>}
    </Dialog>
  );
}

function rowsOf(request: LiveRequest): [string, string][] {
  const text = strings.value.server;
  const { detail } = text;
  const { tokens_per_second: speed } = request;
  return [
    [detail.id, request.id],
    [detail.path, `${request.method} ${request.path}`],
    [detail.model, request.model ?? text.noFigure],
    [detail.client, request.client],
    ...(request.key === null ? [] : [[detail.key, request.key] satisfies [string, string]]),
    [detail.started, momentText(request.started_at)],
    [detail.seconds, durationText(request.seconds)],
    [detail.prompt, promptText(request)],
    [detail.completion, text.answerTokens(countText(request.completion_tokens))],
    [detail.speed, speed === null ? text.noFigure : `${rateText(speed)} ${text.tokensPerSecond}`],
  ];
}

function promptText({ prompt_tokens: prompt, cached_tokens: cached }: LiveRequest): string {
  const text = strings.value.server;
  if (prompt === null) return text.noFigure;
  if (cached === null) return text.promptTokens(countText(prompt));
  return text.promptTokensCached(countText(prompt), countText(cached));
}

function Body({ title, copy, content }: { title: string; copy: string; content: string }) {
  return (
    <section class="stack" aria-label={title}>
      <div class="row row-apart">
        <h3>{title}</h3>
        <CopyButton text={() => content} label={copy} />
      </div>
      {/* Focusable, so that the keyboard can scroll it. */}
      <pre class="request-body" tabIndex={0}>
        {pretty(content)}
      </pre>
    </section>
  );
}

/** Indents JSON; returns anything else, such as a truncated body, as it is. */
function pretty(content: string): string {
  try {
    return JSON.stringify(JSON.parse(content), null, 2);
  } catch {
    return content;
  }
}

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
