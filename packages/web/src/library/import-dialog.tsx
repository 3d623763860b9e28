// Takes a model in that lies on the server's machine, by its path.
import { useState } from "preact/hooks";

import { useAttempt } from "../connection/attempt.ts";
import { client } from "../connection/client.ts";
import { Button } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { Field, TextInput } from "../design/field.tsx";
import { strings } from "../strings/strings.ts";

const formId = "import-form";

export function ImportDialog({ onClose }: { onClose: () => void }) {
  const text = strings.value.library;
  const [isBusy, attempt] = useAttempt();
  const [path, setPath] = useState("");
  const start = async (event: Event) => {
    event.preventDefault();
    if (await attempt(() => client.jobs.start({ kind: "import", path: path.trim() }))) onClose();
  };
  return (
    <Dialog
      title={text.importTitle}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{strings.value.app.cancel}</Button>
          <Button kind="primary" type="submit" form={formId} isBusy={isBusy} disabled={path.trim() === ""}>
            {text.importAction}
          </Button>
        </>
      }
    >
      <p class="soft">{text.importText}</p>
      <form id={formId} onSubmit={(event) => void start(event)}>
        <Field label={text.importPath} hint={text.importHint}>
          {(control) => (
            <TextInput
              {...control}
              autocomplete="off"
              spellcheck={false}
              maxLength={4096}
              placeholder={text.importPlaceholder}
              value={path}
              onValue={setPath}
            />
          )}
        </Field>
      </form>
    </Dialog>
  );
}
