// The API keys of the server: created with a name and a scope, shown once, and revoked after a confirmation.
import type { NewServerKey, ServerKey, ServerKeyRequest } from "@ingle/protocol";
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

import { useAttempt } from "../connection/attempt.ts";
import { client } from "../connection/client.ts";
import { live } from "../connection/connection.ts";
import { Badge } from "../design/badge.tsx";
import { Button } from "../design/button.tsx";
import { CopyButton } from "../design/copy-button.tsx";
import { Dialog, DialogActions } from "../design/dialog.tsx";
import { Field, SelectField, TextField, TextInput } from "../design/field.tsx";
import { ask } from "../design/question.tsx";
import { showError } from "../design/toast.tsx";
import { agoText } from "../format/in-language.ts";
import { strings } from "../strings/strings.ts";

import "./keys-panel.css";

/** Null until the server has reported them. */
const keys = signal<readonly ServerKey[] | null>(null);

async function refreshKeys(): Promise<void> {
  try {
    keys.value = (await client.serverControl.keys()).data;
  } catch (error) {
    showError(error);
  }
}

export function KeysPanel() {
  const text = strings.value.server;
  const [isCreating, setCreating] = useState(false);
  // A server that once had a key requires one until its next start, even after the last key is revoked.
  const needsKey = live.value?.server.needs_key === true;
  useEffect(() => void refreshKeys(), []);
  return (
    <section class="stack" aria-labelledby="keys-heading">
      <div class="row row-apart">
        <h2 id="keys-heading">{text.keys}</h2>
        <Button icon="key" onClick={() => setCreating(true)}>
          {text.createKey}
        </Button>
      </div>
      <p class="small soft">
        {keys.value?.length !== 0 ? text.keysText : needsKey ? text.noKeysLeft : text.noKeys}
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
  const text = strings.value.server;
  const [isBusy, attempt] = useAttempt();
  const revoke = async () => {
    const title = text.revokeTitle(entry.name);
    if (!(await ask({ title, text: text.revokeText, action: text.revoke, isDangerous: true }))) return;
    await attempt(async () => {
      keys.value = (await client.serverControl.revokeKey(entry.id)).data;
    });
  };
  return (
    <li class="key">
      <span class="key-name">{entry.name}</span>
      <Badge tone={entry.scope === "management" ? "warn" : "plain"}>{text.scopeName[entry.scope]}</Badge>
      <span class="key-facts small soft">
        {text.keyEnding(entry.ending)} · {text.keyCreated(agoText(entry.created_at))}
      </span>
      <Button
        kind="danger"
        size="small"
        isBusy={isBusy}
        aria-label={text.revokeKey(entry.name)}
        onClick={() => void revoke()}
      >
        {text.revoke}
      </Button>
    </li>
  );
}

function CreateKeyDialog({ onClose }: { onClose: () => void }) {
  const [created, setCreated] = useState<NewServerKey | null>(null);
  if (created !== null) return <NewKeyDialog created={created} onClose={onClose} />;
  const create = async (request: ServerKeyRequest) => {
    const key = await client.serverControl.createKey(request);
    setCreated(key);
    await refreshKeys();
  };
  return <KeyForm onCreate={create} onClose={onClose} />;
}

const formId = "key-form";

function KeyForm({
  onCreate,
  onClose,
}: {
  onCreate: (key: ServerKeyRequest) => Promise<void>;
  onClose: () => void;
}) {
  const text = strings.value.server;
  const [isBusy, attempt] = useAttempt();
  const [name, setName] = useState("");
  const [scope, setScope] = useState<ServerKeyRequest["scope"]>("inference");
  const submit = (event: Event) => {
    event.preventDefault();
    void attempt(() => onCreate({ name: name.trim(), scope }));
  };
  return (
    <Dialog
      title={text.createKeyTitle}
      isOpen
      onClose={onClose}
      actions={
        <DialogActions
          action={text.createKey}
          form={formId}
          isBusy={isBusy}
          isDisabled={name.trim() === ""}
          onCancel={onClose}
        />
      }
    >
      <form id={formId} class="stack" onSubmit={submit}>
        <TextField
          label={text.keyName}
          autocomplete="off"
          maxLength={100}
          placeholder={text.keyNamePlaceholder}
          value={name}
          onValue={setName}
        />
        <SelectField
          label={text.keyScope}
          value={scope}
          choices={(["inference", "management"] as const).map((value) => ({
            value,
            label: text.scope[value],
          }))}
          onValue={setScope}
        />
      </form>
    </Dialog>
  );
}

function NewKeyDialog({ created, onClose }: { created: NewServerKey; onClose: () => void }) {
  const text = strings.value.server;
  return (
    <Dialog
      title={text.newKeyTitle}
      isOpen
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={onClose}>
          {text.done}
        </Button>
      }
    >
      <p>{text.newKeyText}</p>
      <Field label={text.newKey}>
        {(control) => (
          <div class="new-key">
            <TextInput {...control} readOnly value={created.key} onValue={() => {}} />
            <CopyButton text={() => created.key} label={text.copyKey} size="medium" />
          </div>
        )}
      </Field>
    </Dialog>
  );
}
