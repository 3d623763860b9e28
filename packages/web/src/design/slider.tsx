// A number with a range: a slider for the usual values, and beside it the number, which may go beyond them.
import type { ComponentChildren } from "preact";

import { Field, useTypedNumber } from "./field.tsx";

import "./slider.css";

interface SliderProps {
  label: string;
  hint?: ComponentChildren;
  error?: string | undefined;
  action?: ComponentChildren;
  value: number;
  /** The slider's ends: the usual range. */
  min: number;
  max: number;
  step: number;
  /** The number's ends, where they are wider. */
  numberMin?: number;
  numberMax?: number;
  /** What the number's box is called by screen readers. */
  numberLabel: string;
  isDisabled?: boolean;
  onValue: (value: number) => void;
}

export function Slider(props: SliderProps) {
  const {
    label,
    hint,
    error,
    action,
    value,
    min,
    max,
    step,
    numberLabel,
    isDisabled = false,
    onValue,
  } = props;
  const read = (text: string) => {
    const number = Number(text);
    if (text.trim() !== "" && Number.isFinite(number)) onValue(number);
  };
  const typed = useTypedNumber(value, (box) => read(box.value));
  return (
    <Field label={label} hint={hint} error={error} action={action}>
      {(control) => (
        <div class="slider-row">
          <input
            {...control}
            class="slider"
            type="range"
            min={min}
            max={max}
            step={step}
            value={value}
            disabled={isDisabled}
            onInput={(event) => read(event.currentTarget.value)}
          />
          <input
            class="input slider-number figures"
            type="number"
            aria-label={numberLabel}
            min={props.numberMin ?? min}
            max={props.numberMax ?? max}
            step={step}
            disabled={isDisabled}
            {...typed}
          />
        </div>
      )}
    </Field>
  );
}
