// A slider for the usual range of a number, with a box that also accepts values beyond it.
import type { ComponentChildren } from "preact";

import { Field, useTypedNumber } from "./field.tsx";

interface SliderProps {
  label: string;
  hint?: ComponentChildren;
  error?: string | undefined;
  action?: ComponentChildren;
  value: number;
  /** The range of the slider. */
  min: number;
  max: number;
  step: number;
  /** The range of the box, if it is wider. */
  numberMin?: number;
  numberMax?: number;
  /** The accessible name of the box. */
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
