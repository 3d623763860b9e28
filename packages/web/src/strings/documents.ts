// Texts about documents that are searched for passages.
import { say, texts } from "./language.ts";

export const documentsText = texts({
  title: ["Long documents", "Lange Dokumente"],
  embedderLabel: ["Find passages with", "Passagen finden mit"],
  hint: [
    "Of a document that does not fit the context, only the passages that belong to a question are sent. Their words always count; an embedding model also compares their meaning.",
    "Von einem Dokument, das nicht in den Kontext passt, werden nur die Passagen gesendet, die zu einer Frage gehören. Ihre Wörter zählen immer; ein Embedding-Modell vergleicht auch ihre Bedeutung.",
  ],
  automatic: (model: string) => say(`Automatic (${model})`, `Automatisch (${model})`),
  noModel: ["No embedding model is installed", "Kein Embedding-Modell installiert"],
  wordsOnly: ["Words only", "Nur Wörter"],
  find: ["Find one in the model hub", "Im Model Hub suchen"],
  toggle: (name: string) =>
    say(
      `Send only the passages of ${name} that belong to the question`,
      `Von ${name} nur die Passagen senden, die zur Frage gehören`,
    ),
  onlyPassages: (names: string) =>
    say(
      `Only the passages of ${names} that belong to the question are sent.`,
      `Von ${names} werden nur die Passagen gesendet, die zur Frage gehören.`,
    ),
  byMeaning: (model: string) =>
    say(
      `They are found by their words and, with ${model}, by their meaning.`,
      `Sie werden nach ihren Wörtern gefunden und mit ${model} auch nach ihrer Bedeutung.`,
    ),
  byWords: ["They are found by their words.", "Sie werden nach ihren Wörtern gefunden."],
  modelMissing: [
    "They are found by their words. An embedding model would also find them by their meaning.",
    "Sie werden nach ihren Wörtern gefunden. Ein Embedding-Modell fände sie auch nach ihrer Bedeutung.",
  ],
  reading: (name: string, done: string, all: string) =>
    say(`Reading ${name}: ${done} of ${all} passages`, `${name} wird gelesen: ${done} von ${all} Passagen`),
  found: (count: number, tokens: string) =>
    count === 1
      ? say(`1 passage with ${tokens} tokens`, `1 Passage mit ${tokens} Token`)
      : say(`${count} passages with ${tokens} tokens`, `${count} Passagen mit ${tokens} Token`),
  foundByWords: ["found by words", "nach Wörtern gefunden"],
  foundByMeaning: (model: string) =>
    say(`found by words and meaning (${model})`, `nach Wörtern und Bedeutung gefunden (${model})`),
  meaningFailed: (reason: string) =>
    say(
      `Their meaning could not be compared: ${reason}`,
      `Ihre Bedeutung konnte nicht verglichen werden: ${reason}`,
    ),
  tooManyPassages: ["The documents are too long for that.", "Die Dokumente sind dafür zu lang."],
  places: {
    page: (first: string, last: string, of: string) =>
      first === last
        ? say(`page ${first} of ${of}`, `Seite ${first} von ${of}`)
        : say(`pages ${first} to ${last} of ${of}`, `Seiten ${first} bis ${last} von ${of}`),
    line: (first: string, last: string, of: string) =>
      first === last
        ? say(`line ${first} of ${of}`, `Zeile ${first} von ${of}`)
        : say(`lines ${first} to ${last} of ${of}`, `Zeilen ${first} bis ${last} von ${of}`),
  },
});
