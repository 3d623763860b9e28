// The requests of all programs, the newest first, and the details of each; bodies are available only while they are kept.
import type { LiveRequest } from "@ingle/protocol";
import { useState } from "preact/hooks";

import { canManage, client } from "../connection/connection.ts";
import { IconButton } from "../design/button.tsx";
import { CopyButton } from "../design/copy-button.tsx";
import { ask, Dialog } from "../design/dialog.tsx";
import { Switch } from "../design/field.tsx";
import { Badge, Facts, type Fact, type Tone } from "../design/indicators.tsx";
import { useAttempt } from "../design/toast.tsx";
import { countText, durationText, momentText, rateText, timeOfDayText } from "../format/localized.ts";
import { appText } from "../strings/app.ts";
import { serverText } from "../strings/server.ts";
import "./requests.css";

interface RequestsPanelProps {
  requests: readonly LiveRequest[];
  keepsBodies: boolean;
}

export function RequestsPanel({ requests, keepsBodies }: RequestsPanelProps) {
  // As it was when it was opened: its details stay when newer requests push it out of the list.
  const [opened, setOpened] = useState<LiveRequest | null>(null);
  const shown = requests.find(({ id }) => id === opened?.id) ?? opened;
  return (
    <section class="stack" aria-labelledby="requests-heading">
      <h2 id="requests-heading">{serverText.requests}</h2>
      <KeepBodies keepsBodies={keepsBodies} />
      {requests.length === 0 ? (
        <p class="soft">{serverText.noRequests}</p>
      ) : (
        <RequestTable requests={requests} onOpen={setOpened} />
      )}
      {shown !== null && (
        <RequestDialog request={shown} keepsBodies={keepsBodies} onClose={() => setOpened(null)} />
      )}
    </section>
  );
}

function KeepBodies({ keepsBodies }: { keepsBodies: boolean }) {
  const [isBusy, attempt] = useAttempt();
  const toggle = async (keep: boolean) => {
    const question = {
      title: serverText.keepBodiesTitle,
      text: serverText.keepBodiesText,
      action: serverText.keepBodiesAction,
    };
    if (keep && !(await ask(question))) return;
    await attempt(() => client.requests.keepBodies(keep));
  };
  return (
    <div class={`boxed keep-bodies ${keepsBodies ? "on" : ""}`}>
      <Switch
        label={serverText.keepBodies}
        hint={serverText.keepBodiesHint}
        isOn={keepsBodies}
        isDisabled={isBusy || !canManage.value}
        onToggle={(keep) => void toggle(keep)}
      />
    </div>
  );
}

interface TableProps {
  requests: readonly LiveRequest[];
  onOpen: (request: LiveRequest) => void;
}

function RequestTable({ requests, onOpen }: TableProps) {
  const { time, request: what, status, tokens, speed, seconds, actions } = serverText.column;
  return (
    // Focusable, so that the keyboard can scroll it.
    <div class="boxed requests" role="region" aria-label={serverText.requestsTable} tabIndex={0}>
      <table class="table">
        <thead>
          <tr>
            {[time, what, status].map((label) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
            {[tokens, speed, seconds].map((label) => (
              <th key={label} scope="col" class="number">
                {label}
              </th>
            ))}
            <th scope="col">
              <span class="visually-hidden">{actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {requests.map((request) => (
            <RequestRow key={request.id} request={request} onOpen={() => onOpen(request)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RequestRow({ request, onOpen }: { request: LiveRequest; onOpen: () => void }) {
  const [isBusy, attempt] = useAttempt();
  const { prompt_tokens: prompt, cached_tokens: cached, completion_tokens: completion } = request;
  return (
    <tr>
      <td class="figures">{timeOfDayText(request.started_at)}</td>
      <td class="request-what">
        <code>{request.path}</code>
        <span class="request-model soft" title={request.model ?? undefined}>
          {request.model ?? serverText.noFigure}
        </span>
      </td>
      <td>
        <RequestStatus request={request} />
      </td>
      <td class="number" title={cached === null ? undefined : serverText.cachedTokens(countText(cached))}>
        {prompt === null ? serverText.noFigure : countText(prompt)} / {countText(completion)}{" "}
        <span class="request-unit">{serverText.tokensWord}</span>
      </td>
      <td class="number">
        <Speed perSecond={request.tokens_per_second} />
      </td>
      <td class="number">{durationText(request.seconds)}</td>
      <td class="request-actions">
        {request.can_cancel && canManage.value && (
          <IconButton
            icon="stop"
            size="small"
            label={serverText.cancelRequest(request.id)}
            disabled={isBusy}
            onClick={() => void attempt(() => client.requests.cancel(request.id))}
          />
        )}
        <IconButton icon="info" size="small" label={serverText.openRequest(request.id)} onClick={onOpen} />
      </td>
    </tr>
  );
}

function Speed({ perSecond }: { perSecond: number | null }) {
  if (perSecond === null) return serverText.noFigure;
  return (
    <>
      {rateText(perSecond)} <span class="request-unit">{serverText.tokensPerSecond}</span>
    </>
  );
}

interface RequestDialogProps {
  request: LiveRequest;
  keepsBodies: boolean;
  onClose: () => void;
}

function RequestDialog({ request, keepsBodies, onClose }: RequestDialogProps) {
  const hasBodies = request.body !== null || request.answer !== null;
  return (
    <Dialog title={serverText.column.request} onClose={onClose} size="wide">
      <Facts class="request-details" facts={requestFacts(request)} />
      {request.body !== null && (
        <Body title={serverText.body} copy={serverText.copyBody} content={request.body} />
      )}
      {request.answer !== null && (
        <Body title={serverText.answer} copy={serverText.copyAnswer} content={request.answer} />
      )}
      {!hasBodies && !keepsBodies && <p class="small soft">{serverText.bodiesOff}</p>}
    </Dialog>
  );
}

function requestFacts(request: LiveRequest): Fact[] {
  const { detail } = serverText;
  const { tokens_per_second: speed } = request;
  return [
    [detail.status, <RequestStatus key="status" request={request} />],
    [detail.id, request.id],
    [detail.path, `${request.method} ${request.path}`],
    [appText.model, request.model ?? serverText.noFigure],
    [detail.client, request.client],
    ...(request.key === null ? [] : [[detail.key, request.key] satisfies Fact]),
    [detail.started, momentText(request.started_at)],
    [detail.seconds, durationText(request.seconds)],
    [detail.prompt, promptText(request)],
    [detail.completion, appText.tokens(countText(request.completion_tokens))],
    [detail.speed, speed === null ? serverText.noFigure : `${rateText(speed)} ${serverText.tokensPerSecond}`],
  ];
}

function promptText({ prompt_tokens: prompt, cached_tokens: cached }: LiveRequest): string {
  if (prompt === null) return serverText.noFigure;
  if (cached === null) return appText.tokens(countText(prompt));
  return serverText.promptTokensCached(countText(prompt), countText(cached));
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

function RequestStatus({ request }: { request: LiveRequest }) {
  const text = serverText.requestStatus;
  const code = request.status === "failed" && request.http_status !== null ? ` ${request.http_status}` : "";
  return (
    <Badge tone={tones[request.status]}>
      {text[request.status]}
      {code}
    </Badge>
  );
}
