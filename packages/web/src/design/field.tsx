// A form's row: label, control, what it means, and what is wrong with it.
import type { ComponentChildren, HTMLAttributes, TargetedEvent, TextareaHTMLAttributes } from "preact";
import { useId, useRef, useState } from "preact/hooks";

import "./field.css";

/** What a control needs to be told of its field. */
export interface FieldControl {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean;
}

interface FieldProps {
  label: string;
  /** What the setting means, at hand under the control. */
  hint?: ComponentChildren;
  /** What is wrong with its value, and what would be right. */
  error?: string | undefined;
  /** Beside the label, such as a reset. */
  action?: ComponentChildren;
  children: (control: FieldControl) => ComponentChildren;
}

export function Field({ label, hint, error, action, children }: FieldProps) {
  const id = useId();
  const hasHint = hint !== undefined && hint !== null && hint !== "";
  const described = [hasHint ? `${id}-hint` : "", error === undefined ? "" : `${id}-error`].filter(
    (name) => name !== "",
  );
  return (
    <div class="field">
      <div class="field-head">
        <label for={id}>{label}</label>
        {action}
      </div>
      {children({
        id,
        "aria-describedby": described.length === 0 ? undefined : described.join(" "),
        "aria-invalid": error !== undefined,
      })}
      {error !== undefined && (
        <p id={`${id}-error`} class="field-error">
          {error}
        </p>
      )}
      {hasHint && (
        <p id={`${id}-hint`} class="field-hint">
          {hint}
        </p>
      )}
    </div>
  );
}

/** What all elements take; a role would have to fit the type. */
type PlainAttributes<Target extends EventTarget> = Omit<
  HTMLAttributes<Target>,
  "class" | "role" | "onInput" | "onChange" | "value"
>;

interface InputProps extends PlainAttributes<HTMLInputElement> {
  value: string;
  disabled?: boolean;
  required?: boolean;
  readOnly?: boolean;
  placeholder?: string;
  maxLength?: number;
  autocomplete?: string;
  /** The id of a `<datalist>` with what is usual. */
  list?: string;
  onValue: (value: string) => void;
}

export function TextInput({ onValue, ...rest }: InputProps) {
  return (
    <input {...rest} type="text" class="input" onInput={(event) => onValue(event.currentTarget.value)} />
  );
}

export function SearchInput({ onValue, ...rest }: InputProps) {
  return (
    <input {...rest} type="search" class="input" onInput={(event) => onValue(event.currentTarget.value)} />
  );
}

export function PasswordInput({ onValue, ...rest }: InputProps) {
  return (
    <input {...rest} type="password" class="input" onInput={(event) => onValue(event.currentTarget.value)} />
  );
}

interface NumberInputProps extends PlainAttributes<HTMLInputElement> {
  /** `null` shows an empty box: not said. */
  value: number | null;
  min?: number;
  max?: number;
  step?: number;
  disabled?: boolean;
  required?: boolean;
  placeholder?: string;
  onValue: (value: number | null) => void;
}

export function NumberInput({ value, onValue, ...rest }: NumberInputProps) {
  const typed = useTypedNumber(value, ({ value: text, valueAsNumber }) => {
    if (text === "") onValue(null);
    else if (Number.isFinite(valueAsNumber)) onValue(valueAsNumber);
  });
  return <input {...rest} {...typed} type="number" class="input figures" />;
}

type NumberEvent = TargetedEvent<HTMLInputElement>;

/**
 * For a box that is read when its number is whole: what is typed stays until then, however often the page is drawn meanwhile.
 * `read` gets the box when it is left or Enter is pressed.
 */
export function useTypedNumber(value: number | null, read: (box: HTMLInputElement) => void) {
  const [typed, setTyped] = useState<string | null>(null);
  const isUnread = useRef(false);
  // Once, by what comes first: browsers leave the change out where a script has set the value since the typing.
  const settle = ({ currentTarget }: NumberEvent) => {
    if (isUnread.current) read(currentTarget);
    isUnread.current = false;
    setTyped(null);
  };
  return {
    value: typed ?? value ?? "",
    onInput: ({ currentTarget }: NumberEvent) => {
      isUnread.current = true;
      setTyped(currentTarget.value);
    },
    onChange: settle,
    onBlur: settle,
  };
}

type TextAreaProps = Omit<TextareaHTMLAttributes, "class" | "onInput" | "value"> & {
  value: string;
  onValue: (value: string) => void;
};

export function TextArea({ onValue, ...rest }: TextAreaProps) {
  return (
    <textarea {...rest} class="input text-area" onInput={(event) => onValue(event.currentTarget.value)} />
  );
}

export interface Choice<Value extends string> {
  value: Value;
  label: string;
  isDisabled?: boolean;
}

interface SelectProps<Value extends string> extends PlainAttributes<HTMLSelectElement> {
  value: Value;
  choices: readonly Choice<Value>[];
  disabled?: boolean;
  onValue: (value: Value) => void;
}

export function Select<Value extends string>({ value, choices, onValue, ...rest }: SelectProps<Value>) {
  const choose = (chosen: string) => {
    const choice = choices.find((candidate) => candidate.value === chosen);
    if (choice !== undefined) onValue(choice.value);
  };
  return (
    <select
      {...rest}
      class="input select"
      value={value}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value} disabled={choice.isDisabled === true}>
          {choice.label}
        </option>
      ))}
    </select>
  );
}

interface SwitchProps {
  label: string;
  hint?: string;
  isOn: boolean;
  isDisabled?: boolean;
  onToggle: (isOn: boolean) => void;
}

export function Switch({ label, hint, isOn, isDisabled = false, onToggle }: SwitchProps) {
  const id = useId();
  return (
    <div class="switch-row">
      <span class="switch-text">
        <label for={id}>{label}</label>
        {hint !== undefined && (
          <span id={`${id}-hint`} class="field-hint">
            {hint}
          </span>
        )}
      </span>
      <input
        id={id}
        class="switch"
        type="checkbox"
        role="switch"
        checked={isOn}
        disabled={isDisabled}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={({ currentTarget }) => {
          const wanted = currentTarget.checked;
          currentTarget.checked = isOn; // it shows what is, until that has changed
          onToggle(wanted);
        }}
      />
    </div>
  );
}
