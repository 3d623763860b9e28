// Modal dialogs on the browser's <dialog>, which traps and restores the focus and closes with Escape; and questions: `await ask({...})`.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

import { appText } from "../strings/app.ts";
import { Button, IconButton } from "./button.tsx";
import { CodeWords } from "./empty-state.tsx";
import "./dialog.css";

interface DialogAction {
  /** The text of the button that does it, such as "Load". */
  label: string;
  onAction?: () => void;
  /** The id of a form that the button submits instead. */
  form?: string;
  isBusy?: boolean;
  isDisabled?: boolean;
  isDangerous?: boolean;
  /** Whether nothing is left to cancel, so that this is the only button. */
  isLast?: boolean;
}

interface DialogProps {
  title: string;
  onClose: () => void;
  /** What the dialog can do, as a button at its bottom, beside "Cancel". */
  action?: DialogAction;
  size?: "medium" | "wide";
  children: ComponentChildren;
}

/** Open for as long as it is rendered. */
export function Dialog({ title, onClose, action, size = "medium", children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    ref.current?.showModal();
    if (ref.current !== null) focusFirst(ref.current);
  }, []);
  return (
    // A click on the backdrop targets the dialog element itself.
    <dialog
      ref={ref}
      class={`dialog ${size}`}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      <div class="dialog-frame">
        <header class="dialog-head">
          <h2 id={id}>{title}</h2>
          <IconButton icon="close" label={appText.close} onClick={onClose} />
        </header>
        <div class="dialog-body">{children}</div>
        {action !== undefined && (
          <footer class="dialog-actions">
            {action.isLast !== true && <Button onClick={onClose}>{appText.cancel}</Button>}
            <Button
              kind={action.isDangerous === true ? "danger" : "primary"}
              type={action.form === undefined ? "button" : "submit"}
              form={action.form}
              isBusy={action.isBusy === true}
              disabled={action.isDisabled === true}
              onClick={action.onAction}
            >
              {action.label}
            </Button>
          </footer>
        )}
      </div>
    </dialog>
  );
}

/** What the user does first in a dialog, the first that there is: fill a field, answer the question, or choose something. */
const firstThings = [
  ".dialog-body :is(input:not([type=radio], [hidden]), textarea, select, [type=radio]:checked):enabled",
  ".dialog-actions .primary:enabled",
  ".dialog-actions :enabled", // what cannot be undone is not one key away: Cancel
  ".dialog-body :is(button, a[href], summary):not(:disabled)",
];

/** Without this, the browser focuses the button that closes the dialog. */
function focusFirst(dialog: HTMLElement): void {
  const found = firstThings.map((selector) => dialog.querySelector<HTMLElement>(selector));
  found.find((element) => element !== null)?.focus();
}

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
  const { title, text, action: label, isDangerous = false } = question;
  return (
    <Dialog
      title={title}
      onClose={() => answer(false)}
      action={{ label, isDangerous, onAction: () => answer(true) }}
    >
      <p>
        <CodeWords text={text} />
      </p>
    </Dialog>
  );
}
