// Buttons with a text, with a text and an icon, or with an icon alone.
import type { ButtonHTMLAttributes, ComponentChildren, RefObject } from "preact";

import { Icon, type IconName } from "./icon.tsx";

import "./button.css";

type ButtonKind = "primary" | "plain" | "quiet" | "danger";

interface ButtonProps extends Omit<ButtonHTMLAttributes, "class" | "size" | "icon"> {
  /** At most one `primary` per view. Default: `plain`. */
  kind?: ButtonKind;
  size?: "small" | "medium";
  icon?: IconName;
  /** Shows a spinner and disables the button. */
  isBusy?: boolean;
  children: ComponentChildren;
}

export function Button({
  kind = "plain",
  size = "medium",
  icon,
  isBusy = false,
  children,
  ...rest
}: ButtonProps) {
  const disabled = isBusy || rest.disabled === true;
  return (
    <button type="button" {...rest} disabled={disabled} aria-busy={isBusy} class={`button ${kind} ${size}`}>
      {isBusy ? (
        <span class="spinner" aria-hidden="true" />
      ) : (
        icon !== undefined && <Icon name={icon} size={18} />
      )}
      <span>{children}</span>
    </button>
  );
}

interface IconButtonProps extends Omit<ButtonHTMLAttributes, "class" | "size" | "icon"> {
  icon: IconName;
  /** Its accessible name and tooltip. */
  label: string;
  size?: "small" | "medium";
  kind?: ButtonKind;
  /** Set to the element. */
  button?: RefObject<HTMLButtonElement | null>;
}

export function IconButton({
  icon,
  label,
  size = "medium",
  kind = "quiet",
  button,
  ...rest
}: IconButtonProps) {
  return (
    <button
      ref={button}
      type="button"
      title={label}
      aria-label={label}
      {...rest}
      class={`button icon-button ${kind} ${size}`}
    >
      <Icon name={icon} size={size === "small" ? 16 : 20} />
    </button>
  );
}
