// The dialogs that import a model, change its names, and quantize it.
import type { ManagedModel } from "@ingle/protocol";
import { useEffect, useRef, useState } from "preact/hooks";

import { client, useMachine } from "../connection/connection.ts";
import { Button, IconButton } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { CodeWords } from "../design/empty-state.tsx";
import { failureSentence } from "../design/failure.tsx";
import { Field, Form, TextField, TextInput } from "../design/field.tsx";
import { useAttempt } from "../design/toast.tsx";
import { bytesText } from "../format/localized.ts";
import { libraryText } from "../strings/library.ts";
import { waitForJob } from "./job-toasts.ts";
import { isAlias, type QuantizationChoice, quantizationChoices } from "./model-view.ts";

import "./model-dialogs.css";

const formId = "import-form";

export function ImportDialog({ onClose }: { onClose: () => void }) {
  const [isBusy, attempt] = useAttempt();
  const [path, setPath] = useState("");
  const [failure, setFailure] = useState<string | undefined>(undefined);
  const closed = useRef(new AbortController());
  // A longer import goes on when the dialog is closed, and the list of jobs shows it.
  useEffect(() => () => closed.current.abort(), []);
  const start = () =>
    attempt(async () => {
      setFailure(undefined);
      const { id } = await client.jobs.start({ kind: "import", path: path.trim() });
      const job = await waitForJob(id, closed.current.signal);
      if (job?.status === "failed") setFailure(failureSentence(job));
      else if (job !== undefined) onClose();
    });
  return (
    <Dialog
      title={libraryText.importTitle}
      onClose={onClose}
      action={{ label: libraryText.importAction, form: formId, isBusy, isDisabled: path.trim() === "" }}
    >
      <p class="soft">{libraryText.importText}</p>
      <Form id={formId} onSubmit={start}>
        <TextField
          label={libraryText.importPath}
          error={failure}
          hint={libraryText.importHint}
          autocomplete="off"
          spellcheck={false}
          maxLength={4096}
          placeholder={libraryText.importPlaceholder}
          value={path}
          onValue={setPath}
        />
      </Form>
    </Dialog>
  );
}

export function NamesDialog({ model, onClose }: { model: ManagedModel; onClose: () => void }) {
  const [isBusy, attempt] = useAttempt();
  return (
    <Dialog title={libraryText.namesTitle(model.id)} onClose={onClose}>
      <p class="soft">{libraryText.namesText}</p>
      {model.aliases.length === 0 && <p class="small soft">{libraryText.noNames}</p>}
      <ul class="names">
        {model.aliases.map((alias) => (
          <li key={alias} class="row row-apart">
            <code>{alias}</code>
            <IconButton
              icon="trash"
              size="small"
              label={libraryText.removeName(alias)}
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
  const [isBusy, attempt] = useAttempt();
  const [name, setName] = useState("");
  const isWrong = name !== "" && !isAlias(name);
  const add = async () => {
    if (!isAlias(name)) return;
    if (await attempt(() => client.library.setAlias(name, model.id))) setName("");
  };
  return (
    <Form class="stack" onSubmit={add}>
      <Field
        label={libraryText.newName}
        error={isWrong ? libraryText.nameRule : undefined}
        hint={isWrong ? "" : libraryText.nameRule}
      >
        {(control) => (
          <div class="name-row">
            <TextInput {...control} autocomplete="off" spellcheck={false} value={name} onValue={setName} />
            <Button type="submit" isBusy={isBusy} disabled={name === "" || isWrong}>
              {libraryText.addName}
            </Button>
          </div>
        )}
      </Field>
    </Form>
  );
}

export function QuantizeDialog({ model, onClose }: { model: ManagedModel; onClose: () => void }) {
  const [isBusy, attempt] = useAttempt();
  const [level, setLevel] = useState<QuantizationChoice["level"]>("Q4_K_M");
  const folder = useMachine()?.library_path;
  const start = async () => {
    const request = { kind: "quantize" as const, model: model.id, quantization: level };
    if (await attempt(() => client.jobs.start(request))) onClose();
  };
  return (
    <Dialog
      title={libraryText.quantizeTitle(model.id)}
      onClose={onClose}
      action={{ label: libraryText.quantizeAction, isBusy, onAction: () => void start() }}
    >
      <p class="soft">
        {libraryText.quantizeText}{" "}
        {folder !== undefined && <CodeWords text={libraryText.quantizeWhere(folder)} />}
      </p>
      <fieldset class="stack levels">
        <legend>{libraryText.quantizeLevel}</legend>
        {quantizationChoices(model).map((choice) => (
          <Level key={choice.level} choice={choice} isChosen={choice.level === level} onChoose={setLevel} />
        ))}
      </fieldset>
    </Dialog>
  );
}

interface LevelProps {
  choice: QuantizationChoice;
  isChosen: boolean;
  onChoose: (level: QuantizationChoice["level"]) => void;
}

function Level({ choice: { level, expectedBytes }, isChosen, onChoose }: LevelProps) {
  return (
    <label class={`level ${isChosen ? "chosen" : ""}`}>
      <input type="radio" name="level" checked={isChosen} onChange={() => onChoose(level)} />
      <span class="level-name">
        <b>{level}</b>
        <span class="small soft">{libraryText.level[level]}</span>
      </span>
      {expectedBytes !== null && (
        <span class="small soft figures">{libraryText.quantizeSize(bytesText(expectedBytes))}</span>
      )}
    </label>
  );
}
