// The dialogs that import a model, change its names, and quantize it.
import type { ManagedModel } from "@ingle/protocol";
import { useState } from "preact/hooks";

import { useAttempt } from "../connection/attempt.ts";
import { client } from "../connection/client.ts";
import { Button, IconButton } from "../design/button.tsx";
import { Dialog, DialogActions } from "../design/dialog.tsx";
import { Field, TextField, TextInput } from "../design/field.tsx";
import { bytesText } from "../format/in-language.ts";
import { strings } from "../strings/strings.ts";
import { isAlias, type QuantizationChoice, quantizationChoices } from "./model-view.ts";

import "./model-dialogs.css";

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

export function QuantizeDialog({ model, onClose }: { model: ManagedModel; onClose: () => void }) {
  const text = strings.value.library;
  const [isBusy, attempt] = useAttempt();
  const [level, setLevel] = useState<QuantizationChoice["level"]>("Q4_K_M");
  const start = async () => {
    const request = { kind: "quantize" as const, model: model.id, quantization: level };
    if (await attempt(() => client.jobs.start(request))) onClose();
  };
  return (
    <Dialog
      title={text.quantizeTitle(model.id)}
      isOpen
      onClose={onClose}
      actions={
        <DialogActions
          action={text.quantizeAction}
          isBusy={isBusy}
          onAction={() => void start()}
          onCancel={onClose}
        />
      }
    >
      <p class="soft">{text.quantizeText}</p>
      <fieldset class="levels">
        <legend>{text.quantizeLevel}</legend>
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
  const text = strings.value.library;
  return (
    <label class={`level ${isChosen ? "chosen" : ""}`}>
      <input type="radio" name="level" checked={isChosen} onChange={() => onChoose(level)} />
      <span class="level-name">
        <b>{level}</b>
        <span class="small soft">{text.level[level]}</span>
      </span>
      {expectedBytes !== null && (
        <span class="small soft figures">{text.quantizeSize(bytesText(expectedBytes))}</span>
      )}
    </label>
  );
}
