// The traffic light of a model: a colour, its word, and the sentence why.
import { Badge, type Tone } from "../design/badge.tsx";
import { strings } from "../strings/strings.ts";
import type { Fit, FitColour } from "./fit.ts";
import { fitSentence } from "./fit-sentence.ts";

import "./fit-light.css";

const tones: Readonly<Record<FitColour, Tone>> = { green: "good", yellow: "warn", red: "bad" };

export function FitLight({ fit }: { fit: Pick<Fit, "colour" | "reason"> & Partial<Fit> }) {
  return (
    <span class="fit">
      <Badge tone={tones[fit.colour]}>
        <span class={`fit-dot ${fit.colour}`} aria-hidden="true" />
        {strings.value.library.fitWord[fit.colour]}
      </Badge>
      <span class="fit-why">{fitSentence(fit)}</span>
    </span>
  );
}
