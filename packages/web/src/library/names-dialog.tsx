// Adds and removes the aliases of a model.
import type { ManagedModel } from "@ingle/protocol";
import { useState } from "preact/hooks";

import { useAttempt } from "../connection/attempt.ts";
import { client } from "../connection/client.ts";
import { Button, IconButton } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { Field, TextInput } from "../design/field.tsx";
import { strings } from "../strings/strings.ts";
import { isAlias } from "./model-view.ts";

import "./model-dialogs.css";

export function NamesDialog({ model, onClose }: { model: ManagedModel; onClose: () => void }) {
  const text = strings.value.library;
  const [isBusy, attempt] = useAttempt();
  return (
    <Dialog title={text.namesTitle(model.id)} isOpen onClose={onClose}>
      <p class="soft">{text.namesText}</p>
      {model.aliases.length === 0 && <p class="small soft">{text.noNames}</p>}
      <ul class="names">
        {model.aliases.map((alias) => (
          <li key={alias} class="row row-apart">
            <code>{alias}</code>
            <IconButton
              icon="trash"
              size="small"
              label={text.removeName(alias)}
              disabled={isBusy}
              onClick={() => void attempt(() => client.library.removeAlias(alias))}
            />
          </li>
        ))}
      </ul>
      <NewName model={model} />
    </Dialog>
  );
}

function NewName({ model }: { model: ManagedModel }) {
  const text = strings.value.library;
  const [isBusy, attempt] = useAttempt();
  const [name, setName] = useState("");
  const isWrong = name !== "" && !isAlias(name);
  const add = async (event: Event) => {
    event.preventDefault();
    if (!isAlias(name)) return;
    if (await attempt(() => client.library.setAlias(name, model.id))) setName("");
  };
  return (
    <form class="stack" onSubmit={(event) => void add(event)}>
      <Field
        label={text.newName}
        error={isWrong ? text.nameRule : undefined}
        hint={isWrong ? "" : text.nameRule}
      >
        {(control) => (
          <div class="name-row">
            <TextInput {...control} autocomplete="off" spellcheck={false} value={name} onValue={setName} />
            <Button type="submit" isBusy={isBusy} disabled={name === "" || isWrong}>
              {text.addName}
            </Button>
          </div>
        )}
      </Field>
    </form>
  );
}
