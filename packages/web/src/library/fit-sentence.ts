// The sentence of a traffic light, in the language of the page.
import { bytesText, countText } from "../format/in-language.ts";
import { strings } from "../strings/strings.ts";
import type { Fit, FitReason } from "./fit.ts";

export function fitSentence({
  colour,
  reason,
  better,
}: Pick<Fit, "colour" | "reason"> & Partial<Fit>): string {
  const text = strings.value.library.fit;
  const why = reasonSentence(reason);
  const level = better?.quantization ?? better?.id;
  if (level === undefined) return why;
  return `${why} ${colour === "red" ? text.betterRed(level) : text.better(level)}`;
}

function reasonSentence(reason: FitReason): string {
  const text = strings.value.library.fit;
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
