// A modal dialog on the browser's <dialog>, which traps and restores the focus and closes with Escape.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

import { strings } from "../strings/strings.ts";
import { Button, IconButton } from "./button.tsx";

import "./dialog.css";

interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  /** Buttons at the bottom. */
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
          <IconButton icon="close" label={strings.value.app.close} onClick={onClose} />
        </header>
        <div class="dialog-body">{children}</div>
        {actions !== undefined && <footer class="dialog-actions">{actions}</footer>}
      </div>
    </dialog>
  );
}

interface DialogActionsProps {
  /** The text of the button that does it, such as "Load". */
  action: string;
  onAction?: () => void;
  /** The id of a form that the button submits. */
  form?: string;
  isBusy?: boolean;
  isDisabled?: boolean;
  isDangerous?: boolean;
  onCancel: () => void;
}

/** "Cancel", and the button that does it. */
export function DialogActions(props: DialogActionsProps) {
  const { action, onAction, form, isBusy = false, isDisabled = false, isDangerous = false, onCancel } = props;
  return (
    <>
      <Button onClick={onCancel}>{strings.value.app.cancel}</Button>
      <Button
        kind={isDangerous ? "danger" : "primary"}
        type={form === undefined ? "button" : "submit"}
        form={form}
        isBusy={isBusy}
        disabled={isDisabled}
        onClick={onAction}
      >
        {action}
      </Button>
    </>
  );
}
