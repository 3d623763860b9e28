// The traffic light of a model: its colour, a word for it, and the reason.
import { Badge, type Tone } from "../design/indicators.tsx";
import { bytesText, countText } from "../format/localized.ts";
import { libraryText } from "../strings/library.ts";
import type { Fit, FitColour, FitReason } from "./fit.ts";

const tones: Readonly<Record<FitColour, Tone>> = { green: "good", yellow: "warn", red: "bad" };

type ShownFit = Pick<Fit, "colour" | "reason"> & Partial<Fit>;

export function FitLight({ fit }: { fit: ShownFit }) {
  return (
    <span class="fit">
      <Badge tone={tones[fit.colour]}>
        <span class={`fit-dot ${fit.colour}`} aria-hidden="true" />
        {libraryText.fitWord[fit.colour]}
      </Badge>
      <span class="fit-why">{fitSentence(fit)}</span>
    </span>
  );
}

function fitSentence({ colour, reason, better }: ShownFit): string {
  const text = libraryText.fit;
  const why = reasonSentence(reason);
  const level = better?.quantization ?? better?.id;
  if (level === undefined) return why;
  return `${why} ${colour === "red" ? text.betterRed(level) : text.better(level)}`;
}

function reasonSentence(reason: FitReason): string {
  const text = libraryText.fit;
  const needed = bytesText(reason.needed);
  switch (reason.kind) {
    case "fits":
      return Number.isFinite(reason.available)
        ? text.fits(needed, bytesText(reason.available))
        : text.fitsUnbounded(needed);
    case "busy":
      return text.busy(needed, bytesText(reason.available));
    case "nearly_all":
      return text.nearlyAll(needed, bytesText(reason.total));
    case "shorter":
      return text.shorter(countText(reason.contextLengthMax));
    case "too_large":
      return text.tooLarge(needed, bytesText(reason.total));
  }
}
