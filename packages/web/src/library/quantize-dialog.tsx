// Quantizes a model: a choice of levels with their approximate sizes.
import type { ManagedModel } from "@ingle/protocol";
import { useState } from "preact/hooks";

import { useAttempt } from "../connection/attempt.ts";
import { client } from "../connection/client.ts";
import { Dialog, DialogActions } from "../design/dialog.tsx";
import { bytesText } from "../format/in-language.ts";
import { strings } from "../strings/strings.ts";
import { quantizationChoices, type QuantizationChoice } from "./model-view.ts";

import "./model-dialogs.css";

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
