// The API keys of the server, with what they have used: created with a name, a scope and limits, shown once, and revoked after a
// confirmation.
import type { NewServerKey, ServerKey, ServerKeyRequest } from "@ingle/protocol";
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

import { client, live } from "../connection/connection.ts";
import { Badge } from "../design/indicators.tsx";
import { Button } from "../design/button.tsx";
import { CopyButton } from "../design/copy-button.tsx";
import { ask, Dialog } from "../design/dialog.tsx";
import { Field, Form, NumberField, SelectField, TextField, TextInput } from "../design/field.tsx";
import { useAttempt } from "../design/toast.tsx";
import { agoText, countText, momentText, roundCountText } from "../format/localized.ts";
import { appText } from "../strings/app.ts";
import { serverText } from "../strings/server.ts";

import "./keys-panel.css";

/** Null until the server has reported them. */
const keys = signal<readonly ServerKey[] | null>(null);

async function refreshKeys(): Promise<void> {
  keys.value = (await client.serverControl.keys()).data;
}

/** How often the usage of keys is read, in milliseconds. */
const refreshMs = 5_000;

/** Without `canChange`, the keys are those of a file, and nothing is shown if there are none. */
export function KeysPanel({ canChange }: { canChange: boolean }) {
  const [isCreating, setCreating] = useState(false);
  const [, attempt] = useAttempt();
  // A server that once had a key requires one until its next start, even after the last key is revoked.
  const needsKey = live.value?.server.needs_key === true;
  useEffect(() => {
    void attempt(refreshKeys);
    const timer = setInterval(() => void refreshKeys().catch(() => {}), refreshMs); // the page reports a lost server
    return () => clearInterval(timer);
  }, []);
  if (!canChange && (keys.value ?? []).length === 0) return null;
  return (
    <section class="stack" aria-labelledby="keys-heading">
      <div class="row row-apart">
        <h2 id="keys-heading">{serverText.keys}</h2>
        {canChange && (
          <Button icon="key" onClick={() => setCreating(true)}>
            {serverText.createKey}
          </Button>
        )}
      </div>
      <p class="small soft">
        {!canChange
          ? serverText.keysOfFile
          : keys.value?.length !== 0
            ? serverText.keysText
            : needsKey
              ? serverText.noKeysLeft
              : serverText.noKeys}
      </p>
      {keys.value !== null && keys.value.length > 0 && (
        <ul class="boxed">
          {keys.value.map((key) => (
            <KeyRow key={key.id} entry={key} canChange={canChange} />
          ))}
        </ul>
      )}
      {isCreating && <CreateKeyDialog onClose={() => setCreating(false)} />}
    </section>
  );
}

function KeyRow({ entry, canChange }: { entry: ServerKey; canChange: boolean }) {
  const [isBusy, attempt] = useAttempt();
  const revoke = async () => {
    const title = serverText.revokeTitle(entry.name);
    if (!(await ask({ title, text: serverText.revokeText, action: serverText.revoke, isDangerous: true })))
      return;
    await attempt(async () => {
      keys.value = (await client.serverControl.revokeKey(entry.id)).data;
    });
  };
  return (
    <li class="key">
      <span class="key-name">{entry.name}</span>
      <Badge tone={entry.scope === "management" ? "warn" : "plain"}>
        {serverText.scopeName[entry.scope]}
      </Badge>
      <span class="key-facts small soft">{keyFacts(entry).join(" · ")}</span>
      {canChange && (
        <Button
          kind="danger"
          size="small"
          isBusy={isBusy}
          aria-label={serverText.revokeKey(entry.name)}
          onClick={() => void revoke()}
        >
          {serverText.revoke}
        </Button>
      )}
    </li>
  );
}

function keyFacts({ ending, created_at, usage, ...terms }: ServerKey): string[] {
  const { models, tokens_per_minute, tokens_per_day, parallel_requests, priority, expires_at } = terms;
  const used = usage.prompt_tokens + usage.completion_tokens;
  return [
    serverText.keyEnding(ending),
    serverText.keyCreated(agoText(created_at)),
    models?.join(" "),
    tokens_per_minute === undefined
      ? undefined
      : serverText.tokensPerMinute(roundCountText(tokens_per_minute)),
    tokens_per_day === undefined ? undefined : serverText.tokensPerDay(roundCountText(tokens_per_day)),
    parallel_requests === undefined ? undefined : serverText.atATime(countText(parallel_requests)),
    priority === undefined ? undefined : serverText.ofPriority[priority],
    expires_at === undefined ? undefined : serverText.expiresAt(momentText(Date.parse(expires_at) / 1000)),
    usage.requests === 0 ? undefined : serverText.keyUsage(countText(usage.requests), roundCountText(used)),
  ].filter((fact) => fact !== undefined);
}

const formId = "key-form";

function CreateKeyDialog({ onClose }: { onClose: () => void }) {
  const [isBusy, attempt] = useAttempt();
  const [name, setName] = useState("");
  const [scope, setScope] = useState<ServerKeyRequest["scope"]>("inference");
  const [limits, setLimits] = useState<KeyLimits>(noLimits);
  const [created, setCreated] = useState<NewServerKey | null>(null);
  if (created !== null) return <NewKeyDialog created={created} onClose={onClose} />;
  const create = () =>
    attempt(async () => {
      setCreated(
        await client.serverControl.createKey({ name: name.trim(), scope, ...toTerms(limits, scope) }),
      );
      await refreshKeys();
    });
  return (
    <Dialog
      title={serverText.createKeyTitle}
      onClose={onClose}
      action={{ label: serverText.createKey, form: formId, isBusy, isDisabled: name.trim() === "" }}
    >
      <Form id={formId} class="stack" onSubmit={create}>
        <TextField
          label={serverText.keyName}
          autocomplete="off"
          maxLength={100}
          placeholder={serverText.keyNamePlaceholder}
          value={name}
          onValue={setName}
        />
        <SelectField
          label={serverText.keyScope}
          value={scope}
          choices={(["inference", "management"] as const).map((value) => ({
            value,
            label: serverText.scope[value],
          }))}
          onValue={setScope}
        />
        <LimitInputs limits={limits} scope={scope} onLimits={setLimits} />
      </Form>
    </Dialog>
  );
}

interface KeyLimits {
  models: string;
  perMinute: number | null;
  perDay: number | null;
  parallel: number | null;
  priority: NonNullable<ServerKey["priority"]>;
  days: number | null;
}

const noLimits: KeyLimits = {
  models: "",
  perMinute: null,
  perDay: null,
  parallel: null,
  priority: "normal",
  days: null,
};
const dayMs = 24 * 60 * 60 * 1000;

/** A management key may use every model. */
function toTerms(limits: KeyLimits, scope: ServerKey["scope"]): Omit<ServerKeyRequest, "name" | "scope"> {
  const { models, perMinute, perDay, parallel, priority, days } = limits;
  const names = models.split(/[\s,]+/).filter((name) => name !== "");
  return {
    ...(names.length > 0 && scope === "inference" ? { models: names } : {}),
    ...(perMinute === null ? {} : { tokens_per_minute: perMinute }),
    ...(perDay === null ? {} : { tokens_per_day: perDay }),
    ...(parallel === null ? {} : { parallel_requests: parallel }),
    ...(priority === "normal" ? {} : { priority }),
    ...(days === null ? {} : { expires_at: new Date(Date.now() + days * dayMs).toISOString() }),
  };
}

interface LimitInputsProps {
  limits: KeyLimits;
  scope: ServerKey["scope"];
  onLimits: (limits: KeyLimits) => void;
}

function LimitInputs({ limits, scope, onLimits }: LimitInputsProps) {
  const number = (name: "perMinute" | "perDay" | "parallel" | "days", label: string) => (
    <NumberField
      label={label}
      min={1}
      step={1}
      placeholder={serverText.noLimit}
      value={limits[name]}
      onValue={(value) => onLimits({ ...limits, [name]: value })}
    />
  );
  return (
    <details>
      <summary>{serverText.limits}</summary>
      <div class="stack">
        {scope === "inference" && (
          <TextField
            label={serverText.keyModels}
            hint={serverText.keyModelsHint}
            autocomplete="off"
            placeholder={serverText.allModels}
            value={limits.models}
            onValue={(models) => onLimits({ ...limits, models })}
          />
        )}
        {number("perMinute", serverText.perMinute)}
        {number("perDay", serverText.perDay)}
        {number("parallel", serverText.parallelRequests)}
        <SelectField
          label={serverText.keyPriority}
          value={limits.priority}
          choices={(["high", "normal", "low"] as const).map((value) => ({
            value,
            label: serverText.priority[value],
          }))}
          onValue={(priority) => onLimits({ ...limits, priority })}
        />
        {number("days", serverText.validDays)}
      </div>
    </details>
  );
}

function NewKeyDialog({ created, onClose }: { created: NewServerKey; onClose: () => void }) {
  return (
    <Dialog
      title={serverText.newKeyTitle}
      onClose={onClose}
      action={{ label: serverText.done, onAction: onClose, isLast: true }}
    >
      <p>{serverText.newKeyText}</p>
      <Field label={appText.keyLabel}>
        {(control) => (
          <div class="new-key">
            <TextInput {...control} readOnly value={created.key} onValue={() => {}} />
            <CopyButton text={() => created.key} label={serverText.copyKey} size="medium" />
          </div>
        )}
      </Field>
    </Dialog>
  );
}
