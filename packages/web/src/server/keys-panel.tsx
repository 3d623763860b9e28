// The API keys of the server: created with a name and a scope, shown once, and revoked after a confirmation.
import type { NewServerKey, ServerKey, ServerKeyRequest } from "@ingle/protocol";
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

import { client, live } from "../connection/connection.ts";
import { Badge } from "../design/indicators.tsx";
import { Button } from "../design/button.tsx";
import { CopyButton } from "../design/copy-button.tsx";
import { ask, Dialog } from "../design/dialog.tsx";
import { Field, Form, SelectField, TextField, TextInput } from "../design/field.tsx";
import { useAttempt } from "../design/toast.tsx";
import { agoText } from "../format/localized.ts";
import { appText } from "../strings/app.ts";
import { serverText } from "../strings/server.ts";

import "./keys-panel.css";

/** Null until the server has reported them. */
const keys = signal<readonly ServerKey[] | null>(null);

async function refreshKeys(): Promise<void> {
  keys.value = (await client.serverControl.keys()).data;
}

export function KeysPanel() {
  const [isCreating, setCreating] = useState(false);
  const [, attempt] = useAttempt();
  // A server that once had a key requires one until its next start, even after the last key is revoked.
  const needsKey = live.value?.server.needs_key === true;
  useEffect(() => void attempt(refreshKeys), []);
  return (
    <section class="stack" aria-labelledby="keys-heading">
      <div class="row row-apart">
        <h2 id="keys-heading">{serverText.keys}</h2>
        <Button icon="key" onClick={() => setCreating(true)}>
          {serverText.createKey}
        </Button>
      </div>
      <p class="small soft">
        {keys.value?.length !== 0
          ? serverText.keysText
          : needsKey
            ? serverText.noKeysLeft
            : serverText.noKeys}
      </p>
      {keys.value !== null && keys.value.length > 0 && (
        <ul class="boxed">
          {keys.value.map((key) => (
            <KeyRow key={key.id} entry={key} />
          ))}
        </ul>
      )}
      {isCreating && <CreateKeyDialog onClose={() => setCreating(false)} />}
    </section>
  );
}

function KeyRow({ entry }: { entry: ServerKey }) {
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
      <span class="key-facts small soft">
        {serverText.keyEnding(entry.ending)} · {serverText.keyCreated(agoText(entry.created_at))}
      </span>
      <Button
        kind="danger"
        size="small"
        isBusy={isBusy}
        aria-label={serverText.revokeKey(entry.name)}
        onClick={() => void revoke()}
      >
        {serverText.revoke}
      </Button>
    </li>
  );
}

const formId = "key-form";

function CreateKeyDialog({ onClose }: { onClose: () => void }) {
  const [isBusy, attempt] = useAttempt();
  const [name, setName] = useState("");
  const [scope, setScope] = useState<ServerKeyRequest["scope"]>("inference");
  const [created, setCreated] = useState<NewServerKey | null>(null);
  if (created !== null) return <NewKeyDialog created={created} onClose={onClose} />;
  const create = () =>
    attempt(async () => {
      setCreated(await client.serverControl.createKey({ name: name.trim(), scope }));
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
      </Form>
    </Dialog>
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
