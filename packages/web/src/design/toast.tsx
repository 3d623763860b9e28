// Toasts: short messages at the edge of the page with at most one action, such as undo. Also announcements for screen readers.
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";

import { errorMessage } from "../strings/error-message.ts";
import { appText } from "../strings/app.ts";
import { Button, IconButton } from "./button.tsx";

import "./toast.css";

interface Toast {
  text: string;
  /** Shown below the text in small print. */
  detail?: string | null;
  tone?: "plain" | "good" | "bad";
  action?: { label: string; onAction: () => void };
}

interface ShownToast extends Toast {
  number: number;
}

/** Long enough to read a sentence and to reach its button; an error has two sentences and comes unexpected. */
const shownMs = { plain: 7_000, good: 7_000, bad: 20_000 } as const;
const tickMs = 500;

/** More would cover the page. */
const toastsMax = 4;

const shown = signal<readonly ShownToast[]>([]);
let lastNumber = 0;

/** Shows a toast. If there are too many, the oldest disappears. */
export function showToast(toast: Toast): void {
  lastNumber += 1;
  const number = lastNumber;
  shown.value = [...shown.value, { ...toast, number }].slice(-toastsMax);
  hideLater(number, shownMs[toast.tone ?? "plain"]);
}

/** Hides a toast after a while. The time starts over while a dialog is open, and while a toast is hovered or focused. */
function hideLater(number: number, wholeMs: number): void {
  let leftMs = wholeMs;
  const timer = setInterval(() => {
    const isPaused = document.querySelector("dialog[open], .toasts:is(:hover, :focus-within)") !== null;
    leftMs = isPaused ? wholeMs : leftMs - tickMs;
    if (leftMs > 0 && shown.value.some((toast) => toast.number === number)) return;
    clearInterval(timer);
    hide(number);
  }, tickMs);
}

/** Shows an error as a toast. */
export function showError(error: unknown): void {
  showToast({ ...errorMessage(error), tone: "bad" });
}

/** Performs an action of the user. Resolves with whether it succeeded, and shows its error as a toast. */
export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    showError(error);
    return false;
  }
}

/** `[isBusy, attempt]`, for a button that shows that its work is in progress. */
export function useAttempt(): [boolean, typeof attempt] {
  const [isBusy, setBusy] = useState(false);
  const attemptBusily = async (work: () => Promise<unknown>) => {
    setBusy(true);
    const isDone = await attempt(work);
    setBusy(false);
    return isDone;
  };
  return [isBusy, attemptBusily];
}

function hide(number: number): void {
  shown.value = shown.value.filter((toast) => toast.number !== number);
}

/** Shows the toasts; rendered once in the page. */
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
          <IconButton icon="close" size="small" label={appText.close} onClick={() => hide(number)} />
        </div>
      ))}
    </div>
  );
}

const announcement = signal("");

/** Makes screen readers read a sentence, politely. */
export function announce(sentence: string): void {
  // An unchanged text is not read again, so a repeated sentence gets a trailing space.
  announcement.value = sentence === announcement.value ? `${sentence}\u00a0` : sentence;
}

/** Holds the announcements; rendered once in the page. */
export function Announcer() {
  return (
    <p class="visually-hidden" role="status">
      {announcement.value}
    </p>
  );
}
