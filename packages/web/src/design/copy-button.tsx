// A button that copies a text and says that it did.
import { useState } from "preact/hooks";

import { strings } from "../strings/strings.ts";
import { IconButton } from "./button.tsx";
import { copyText } from "./copy.ts";

const confirmedMs = 1_500;

/** `text` is asked for when it is pressed. `label` says what is copied, such as "Copy the address". */
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
  const { copied, copyFailed } = strings.value.app;
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
