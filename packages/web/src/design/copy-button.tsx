// A button that copies a text and confirms it.
import { useState } from "preact/hooks";

import { appText } from "../strings/app.ts";
import { IconButton } from "./button.tsx";

const confirmedMs = 1_500;

/** `text` is called when the button is pressed. `label` names what is copied, such as "Copy the address". */
export function CopyButton({
  text,
  label,
  size = "small",
}: {
  text: () => string;
  label: string;
  size?: "small" | "medium";
}) {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  const copy = async () => {
    setState((await copyText(text())) ? "copied" : "failed");
    setTimeout(() => setState("idle"), confirmedMs);
  };
  const { copied, copyFailed } = appText;
  const shown = state === "idle" ? label : state === "copied" ? copied : copyFailed;
  return (
    <IconButton
      icon={state === "copied" ? "check" : state === "failed" ? "error" : "copy"}
      label={shown}
      size={size}
      onClick={() => void copy()}
    />
  );
}

/** Copies a text. Resolves with whether it succeeded. */
export async function copyText(text: string): Promise<boolean> {
  // Pages served over http from other machines have no clipboard API.
  if (window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Not permitted here, such as in a frame; the old way may be.
    }
  }
  return copyBySelection(text);
}

function copyBySelection(text: string): boolean {
  const before = document.activeElement;
  const box = document.createElement("textarea");
  box.value = text;
  box.className = "visually-hidden";
  document.body.append(box);
  box.select();
  const isCopied = document.execCommand("copy");
  box.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}
