// German of the first start, before there is a model.
import type { Strings } from "./strings.ts";

export const firstRunDe: Strings["firstRun"] = {
  title: "Ihr erstes Modell",
  text: "Modelle laufen auf diesem Rechner. Nichts, was Sie schreiben, verlässt ihn.",
  looking: "Es wird ein Modell gesucht, das auf diesen Rechner passt …",
  why: {
    used_last: "Sie haben es zuletzt benutzt.",
    added_last: "Sie haben es zuletzt hinzugefügt.",
    largest_that_fits: "Ein gutes kleines Modell, für das dieser Rechner Platz hat.",
    starter:
      "Ein kleines Modell für den Anfang, das überall läuft. Es ist schnell und irrt sich oft; in der Bibliothek gibt es bessere.",
  },
  hub: {
    asked: "",
    not_asked: "",
    offline: "Ingle soll offline bleiben; darum wurde der Hub nicht nach einem besseren gefragt.",
    silent: "Der Model Hub hat nicht geantwortet; darum kommt dieses aus der npm-Registry.",
    refused: "Der Model Hub hat keines; darum kommt dieses aus der npm-Registry.",
    no_memory: "Dieser Rechner hat zu wenig Arbeitsspeicher für ein größeres.",
  },
  size: (size) => `${size} herunterzuladen`,
  license: (license) => `Lizenz: ${license}`,
  get: "Herunterladen",
  getModel: (model) => `${model} herunterladen`,
  preparing: "Der Download wird vorbereitet …",
  chatNow: "Chat beginnen",
  chatHint: "Das Modell wird mit Ihrer ersten Nachricht geladen.",
  paused: "Der Download ist angehalten.",
  failed: "Der Download ist fehlgeschlagen.",
  unreachable: "Im Augenblick lässt sich kein Modell empfehlen.",
  others: "Andere Modelle",
};
