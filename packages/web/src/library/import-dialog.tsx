// Imports a model from a path on the server's machine.
import { useState } from "preact/hooks";

import { useAttempt } from "../connection/attempt.ts";
import { client } from "../connection/client.ts";
import { Dialog, DialogActions } from "../design/dialog.tsx";
import { TextField } from "../design/field.tsx";
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
        <DialogActions
          action={text.importAction}
          form={formId}
          isBusy={isBusy}
          isDisabled={path.trim() === ""}
          onCancel={onClose}
        />
      }
    >
      <p class="soft">{text.importText}</p>
      <form id={formId} onSubmit={(event) => void start(event)}>
        <TextField
          label={text.importPath}
          hint={text.importHint}
          autocomplete="off"
          spellcheck={false}
          maxLength={4096}
          placeholder={text.importPlaceholder}
          value={path}
          onValue={setPath}
        />
      </form>
    </Dialog>
  );
}
