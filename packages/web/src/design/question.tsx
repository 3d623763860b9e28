// A question before something that cannot be undone: `await ask({...})` from anywhere, answered in one dialog.
import { signal } from "@preact/signals";

import { strings } from "../strings/strings.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

export interface Question {
  title: string;
  /** What will happen, in a sentence. */
  text: string;
  /** The button that does it, such as "Remove". */
  action: string;
  isDangerous?: boolean;
}

const asked = signal<{ question: Question; answer: (isYes: boolean) => void } | null>(null);

/** Resolves with whether the person said yes. A question that is open is answered with no. */
export function ask(question: Question): Promise<boolean> {
  asked.value?.answer(false);
  return new Promise((resolve) => {
    const answer = (isYes: boolean) => {
      asked.value = null;
      resolve(isYes);
    };
    asked.value = { question, answer };
  });
}

/** Where questions appear; once in the page. */
export function QuestionHost() {
  const current = asked.value;
  if (current === null) return null;
  const { question, answer } = current;
  return (
    <Dialog
      title={question.title}
      isOpen
      onClose={() => answer(false)}
      actions={
        <>
          <Button onClick={() => answer(false)}>{strings.value.app.cancel}</Button>
          <Button kind={question.isDangerous === true ? "danger" : "primary"} onClick={() => answer(true)}>
            {question.action}
          </Button>
        </>
      }
    >
      <p>{question.text}</p>
    </Dialog>
  );
}
