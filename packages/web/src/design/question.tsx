// Asks for confirmation before something that cannot be undone: `await ask({...})`.
import { signal } from "@preact/signals";

import { CodeWords } from "./code-words.tsx";
import { Dialog, DialogActions } from "./dialog.tsx";

interface Question {
  title: string;
  /** What will happen; words in backticks are shown as code. */
  text: string;
  /** The text of the button that does it, such as "Remove". */
  action: string;
  isDangerous?: boolean;
}

const asked = signal<{ question: Question; answer: (isYes: boolean) => void } | null>(null);

/** Resolves with whether the user confirmed. A question that is still open is answered with no. */
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

/** Shows the questions; rendered once in the page. */
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
        <DialogActions
          action={question.action}
          isDangerous={question.isDangerous === true}
          onAction={() => answer(true)}
          onCancel={() => answer(false)}
        />
      }
    >
      <p>
        <CodeWords text={question.text} />
      </p>
    </Dialog>
  );
}
