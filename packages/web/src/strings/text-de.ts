// German of the plain-text page.
import type { Strings } from "./strings.ts";

export const textDe: Strings["text"] = {
  title: "Reiner Text",
  intro:
    "Ohne Chat: Das Modell schreibt weiter, was hier steht. Unterstrichene Token waren weniger wahrscheinlich; wählen Sie eines, um zu sehen, was dort noch hätte stehen können.",
  text: "Text",
  placeholder: "Es war einmal",
  tokens: "Zu schreibende Token",
  tokensHint: "Das Modell kann früher aufhören.",
  writeOn: "Weiterschreiben",
  stop: "Anhalten",
  edit: "Text bearbeiten",
  showTokens: "Token zeigen",
  clear: "Leeren",
  chooseToken: "Wählen Sie ein Token des Modells, um die wahrscheinlichsten an seiner Stelle zu sehen.",
  alternatives: "Andere Token",
  insteadOf: (token) => `Anstelle von ${token}`,
  alternativesHint: "Die Wahl schneidet den Text dort ab und schreibt von da weiter.",
  ended: "Das Modell schrieb nichts: Für es endet der Text hier.",
  written: "Das Modell hat weitergeschrieben.",
};
