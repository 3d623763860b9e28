// Form fields: a label with a control, a hint and an error; and the controls themselves.
import type {
  ComponentChildren,
  FormHTMLAttributes,
  HTMLAttributes,
  RefObject,
  TargetedEvent,
  TextareaHTMLAttributes,
} from "preact";
import { useId, useRef, useState } from "preact/hooks";

import "./field.css";

/** The attributes that connect a control with its field. */
interface FieldControl {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean;
}

interface FieldProps {
  label: string;
  /** Explains the setting, below the control. */
  hint?: ComponentChildren;
  /** What is wrong with the value, and what would be right. */
  error?: string | undefined;
  /** Beside the label, such as a reset button. */
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

/** Attributes that are passed on to the element. */
type PlainAttributes<Target extends EventTarget> = Omit<
  HTMLAttributes<Target>,
  "class" | "role" | "onInput" | "onChange" | "value"
>;

interface InputProps extends PlainAttributes<HTMLInputElement> {
  type?: "text" | "search";
  value: string;
  disabled?: boolean;
  required?: boolean;
  readOnly?: boolean;
  placeholder?: string;
  maxLength?: number;
  autocomplete?: string;
  /** The id of a `<datalist>` with suggestions. */
  list?: string;
  onValue: (value: string) => void;
}

export function TextInput({ type = "text", onValue, ...rest }: InputProps) {
  return (
    <input {...rest} type={type} class="input" onInput={(event) => onValue(event.currentTarget.value)} />
  );
}

export function PasswordInput({ onValue, ...rest }: Omit<InputProps, "type">) {
  return (
    <input {...rest} type="password" class="input" onInput={(event) => onValue(event.currentTarget.value)} />
  );
}

interface NumberInputProps extends PlainAttributes<HTMLInputElement> {
  /** `null` is an empty box. */
  value: number | null;
  min?: number;
  max?: number;
  step?: number;
  disabled?: boolean;
  required?: boolean;
  placeholder?: string;
  onValue: (value: number | null) => void;
}

function NumberInput({ value, onValue, ...rest }: NumberInputProps) {
  const typed = useTypedNumber(value, ({ value: text, valueAsNumber }) => {
    if (text === "") onValue(null);
    else if (Number.isFinite(valueAsNumber)) onValue(valueAsNumber);
  });
  return <input {...rest} {...typed} type="number" class="input figures" />;
}

type NumberEvent = TargetedEvent<HTMLInputElement>;

/**
 * Props for an input that is read when it is left or Enter is pressed: `read` gets the element then. Until then, the typed text
 * survives every rerender.
 */
export function useTypedNumber(value: number | null, read: (box: HTMLInputElement) => void) {
  const [typed, setTyped] = useState<string | null>(null);
  const isUnread = useRef(false);
  // Whichever event comes first reads it: browsers omit `change` if a script has set the value since the user typed.
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

interface Choice<Value extends string> {
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

/** The props of a field with a single control. */
type FieldOptions = Omit<FieldProps, "children">;

export function TextField({ label, hint, error, action, ...rest }: FieldOptions & InputProps) {
  return (
    <Field {...{ label, hint, error, action }}>{(control) => <TextInput {...rest} {...control} />}</Field>
  );
}

export function NumberField({ label, hint, error, action, ...rest }: FieldOptions & NumberInputProps) {
  return (
    <Field {...{ label, hint, error, action }}>{(control) => <NumberInput {...rest} {...control} />}</Field>
  );
}

export function TextAreaField({ label, hint, error, action, ...rest }: FieldOptions & TextAreaProps) {
  return (
    <Field {...{ label, hint, error, action }}>{(control) => <TextArea {...rest} {...control} />}</Field>
  );
}

export function SelectField<Value extends string>(props: FieldOptions & SelectProps<Value>) {
  const { label, hint, error, action, ...rest } = props;
  return <Field {...{ label, hint, error, action }}>{(control) => <Select {...rest} {...control} />}</Field>;
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
          currentTarget.checked = isOn; // keeps showing the current state until that changes
          onToggle(wanted);
        }}
      />
    </div>
  );
}

interface FormProps extends Omit<FormHTMLAttributes, "onSubmit"> {
  onSubmit: () => unknown;
}

/** A form that a script sends. */
export function Form({ onSubmit, ...rest }: FormProps) {
  const submit = (event: Event) => {
    event.preventDefault();
    void onSubmit();
  };
  return <form {...rest} onSubmit={submit} />;
}

interface FileInputProps {
  /** Set to the element; `click()` opens its file dialog. */
  input: RefObject<HTMLInputElement | null>;
  label: string;
  accept: string;
  multiple?: boolean;
  onFiles: (files: readonly File[]) => void;
}

/** A hidden file input. The same file can be picked again. */
export function FileInput({ input, label, accept, multiple = false, onFiles }: FileInputProps) {
  return (
    <input
      ref={input}
      type="file"
      hidden
      multiple={multiple}
      accept={accept}
      aria-label={label}
      onChange={({ currentTarget }) => {
        onFiles([...(currentTarget.files ?? [])]);
        currentTarget.value = "";
      }}
    />
  );
}
