// A dialog on the browser's own <dialog>: it holds the focus, closes by Escape and gives the focus back.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

import { strings } from "../strings/strings.ts";
import { IconButton } from "./button.tsx";

import "./dialog.css";

interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  /** Buttons at the bottom, the one that does it last. */
  actions?: ComponentChildren;
  size?: "medium" | "wide";
  children: ComponentChildren;
}

export function Dialog({ title, isOpen, onClose, actions, size = "medium", children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (isOpen && dialog?.open === false) dialog.showModal();
    if (!isOpen && dialog?.open === true) dialog.close();
  }, [isOpen]);
  if (!isOpen) return null;
  return (
    // A click on the backdrop is a click on the dialog itself; Escape is the keyboard's way.
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
          <IconButton icon="close" label={strings.value.app.close} onClick={onClose} />
        </header>
        <div class="dialog-body">{children}</div>
        {actions !== undefined && <footer class="dialog-actions">{actions}</footer>}
      </div>
    </dialog>
  );
}
