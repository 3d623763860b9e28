// A slider for the usual range of a number, with a box that also accepts values beyond it.
import type { ComponentChildren } from "preact";

import { Field, useTypedNumber } from "./field.tsx";

interface SliderProps {
  label: string;
  hint: string;
  action?: ComponentChildren;
  range: { value: number; min: number; max: number; step: number; onValue: (value: number) => void };
  /** The slider's value in words, if the number alone does not say it. */
  rangeText?: string;
  /** The box; `label` is its accessible name. */
  box: { label: string; value: number | null; min: number; max?: number; onValue: (value: number) => void };
  isDisabled?: boolean;
}

export function Slider({ label, hint, action, range, rangeText, box, isDisabled = false }: SliderProps) {
  const typed = useTypedNumber(box.value, ({ valueAsNumber }) => {
    if (Number.isFinite(valueAsNumber)) box.onValue(valueAsNumber);
  });
  return (
    <Field label={label} hint={hint} action={action}>
      {(control) => (
        <div class="slider-row">
          <input
            {...control}
            class="slider"
            type="range"
            min={range.min}
            max={range.max}
            step={range.step}
            value={range.value}
            disabled={isDisabled}
            aria-valuetext={rangeText}
            onInput={(event) => range.onValue(event.currentTarget.valueAsNumber)}
          />
          <input
            class="input slider-number figures"
            type="number"
            aria-label={box.label}
            min={box.min}
            max={box.max}
            step={range.step}
            disabled={isDisabled}
            {...typed}
          />
        </div>
      )}
    </Field>
  );
}
