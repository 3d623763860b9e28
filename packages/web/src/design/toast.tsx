// Short messages at the edge of the page, with at most one thing to do about them, such as undo.
import { signal } from "@preact/signals";

import { wordsOf } from "../strings/error-words.ts";
import { strings } from "../strings/strings.ts";
import { Button, IconButton } from "./button.tsx";

import "./toast.css";

export interface Toast {
  text: string;
  /** What stands behind it, in smaller letters. */
  detail?: string | null;
  tone?: "plain" | "good" | "bad";
  action?: { label: string; onAction: () => void };
}

interface ShownToast extends Toast {
  number: number;
}

/** Long enough to read a sentence and to reach the undo. Errors stay until they are closed. */
const shownMs = 7_000;
const tickMs = 500;

/** More would cover the page. */
const toastsMax = 4;

const shown = signal<readonly ShownToast[]>([]);
let lastNumber = 0;

/** Shows a message; the oldest makes room. */
export function showToast(toast: Toast): void {
  lastNumber += 1;
  const number = lastNumber;
  shown.value = [...shown.value, { ...toast, number }].slice(-toastsMax);
  if (toast.tone !== "bad") hideLater(number);
}

/** The time runs while a person can reach it and does not: not behind a dialog, and not while it is pointed at or has the focus. */
function hideLater(number: number): void {
  let leftMs = shownMs;
  const timer = setInterval(() => {
    const isHeld = document.querySelector("dialog[open], .toasts:is(:hover, :focus-within)") !== null;
    leftMs = isHeld ? shownMs : leftMs - tickMs;
    if (leftMs > 0 && shown.value.some((toast) => toast.number === number)) return;
    clearInterval(timer);
    hide(number);
  }, tickMs);
}

/** What went wrong, as a toast that stays. */
export function showError(error: unknown): void {
  showToast({ ...wordsOf(error), tone: "bad" });
}

function hide(number: number): void {
  shown.value = shown.value.filter((toast) => toast.number !== number);
}

/** Where toasts appear; once in the page. */
export function ToastHost() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.value.map(({ number, text, detail = null, tone = "plain", action }) => (
        <div key={number} class={`toast ${tone}`}>
          <span class="toast-text">
            {text}
            {detail !== null && <span class="toast-detail small soft">{detail}</span>}
          </span>
          {action !== undefined && (
            <Button
              kind="quiet"
              size="small"
              onClick={() => {
                hide(number);
                action.onAction();
              }}
            >
              {action.label}
            </Button>
          )}
          <IconButton
            icon="close"
            size="small"
            label={strings.value.app.close}
            onClick={() => hide(number)}
          />
        </div>
      ))}
    </div>
  );
}
