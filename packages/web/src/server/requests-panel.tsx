// The requests of all programs, the newest first.
import type { LiveRequest } from "@ingle/protocol";
import { useState } from "preact/hooks";

import { useAttempt } from "../connection/attempt.ts";
import { canManage, client } from "../connection/client.ts";
import { IconButton } from "../design/button.tsx";
import { Switch } from "../design/field.tsx";
import { ask } from "../design/question.tsx";
import { Table } from "../design/table.tsx";
import { countText, durationText, rateText, timeOfDayText } from "../format/in-language.ts";
import { strings } from "../strings/strings.ts";
import { RequestDialog, RequestStatus } from "./request-dialog.tsx";

import "./requests.css";

interface RequestsPanelProps {
  requests: readonly LiveRequest[];
  keepsBodies: boolean;
}

export function RequestsPanel({ requests, keepsBodies }: RequestsPanelProps) {
  const text = strings.value.server;
  const [opened, setOpened] = useState<string | null>(null);
  // Keeps the details open when newer requests push the request out of the list.
  const [last, setLast] = useState<LiveRequest | null>(null);
  const shown = requests.find(({ id }) => id === opened) ?? (last?.id === opened ? last : undefined);
  const open = (request: LiveRequest) => {
    setLast(request);
    setOpened(request.id);
  };
  return (
    <section class="stack" aria-labelledby="requests-heading">
      <h2 id="requests-heading">{text.requests}</h2>
      <KeepBodies keepsBodies={keepsBodies} />
      {requests.length === 0 ? (
        <p class="soft">{text.noRequests}</p>
      ) : (
        <RequestTable requests={requests} onOpen={open} />
      )}
      {shown !== undefined && (
        <RequestDialog request={shown} keepsBodies={keepsBodies} onClose={() => setOpened(null)} />
      )}
    </section>
  );
}

function KeepBodies({ keepsBodies }: { keepsBodies: boolean }) {
  const text = strings.value.server;
  const [isBusy, attempt] = useAttempt();
  const toggle = async (keep: boolean) => {
    const question = {
      title: text.keepBodiesTitle,
      text: text.keepBodiesText,
      action: text.keepBodiesAction,
    };
    if (keep && !(await ask(question))) return;
    await attempt(() => client.requests.keepBodies(keep));
  };
  return (
    <div class={`keep-bodies ${keepsBodies ? "on" : ""}`}>
      <Switch
        label={text.keepBodies}
        hint={text.keepBodiesHint}
        isOn={keepsBodies}
        isDisabled={isBusy || !canManage.value}
        onToggle={(keep) => void toggle(keep)}
      />
    </div>
  );
}

function RequestTable({
  requests,
  onOpen,
}: Pick<RequestsPanelProps, "requests"> & { onOpen: (request: LiveRequest) => void }) {
  const text = strings.value.server;
  const { column } = text;
  return (
    <div class="requests">
      <Table
        label={text.requestsTable}
        columns={[
          { label: column.time },
          { label: column.request },
          { label: column.status },
          { label: column.tokens, isNumber: true },
          { label: column.speed, isNumber: true },
          { label: column.seconds, isNumber: true },
          { label: column.actions, isQuiet: true },
        ]}
      >
        {requests.map((request) => (
          <RequestRow key={request.id} request={request} onOpen={() => onOpen(request)} />
        ))}
      </Table>
    </div>
  );
}

function RequestRow({ request, onOpen }: { request: LiveRequest; onOpen: () => void }) {
  const text = strings.value.server;
  const [isBusy, attempt] = useAttempt();
  const { prompt_tokens: prompt, cached_tokens: cached, completion_tokens: completion } = request;
  return (
    <tr>
      <td class="figures">{timeOfDayText(request.started_at)}</td>
      <td class="request-what">
        <code>{request.path}</code>
        <span class="request-model soft" title={request.model ?? undefined}>
          {request.model ?? text.noFigure}
        </span>
      </td>
      <td>
        <RequestStatus request={request} />
      </td>
      <td class="number" title={cached === null ? undefined : text.cachedTokens(countText(cached))}>
        {prompt === null ? text.noFigure : countText(prompt)} / {countText(completion)}{" "}
        <span class="request-unit">{text.tokensWord}</span>
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
            label={text.cancelRequest(request.id)}
            disabled={isBusy}
            onClick={() => void attempt(() => client.requests.cancel(request.id))}
          />
        )}
        <IconButton icon="info" size="small" label={text.openRequest(request.id)} onClick={onOpen} />
      </td>
    </tr>
  );
}

function Speed({ perSecond }: { perSecond: number | null }) {
  const text = strings.value.server;
  if (perSecond === null) return text.noFigure;
  return (
    <>
      {rateText(perSecond)} <span class="request-unit">{text.tokensPerSecond}</span>
    </>
  );
}
