// Texts of the import of chats.
import { say, texts } from "./language.ts";

/** A count with its noun. */
function counted(
  count: number,
  [one, many]: readonly [string, string],
  [eins, viele]: readonly [string, string],
): string {
  return count === 1 ? say(`1 ${one}`, `1 ${eins}`) : say(`${count} ${many}`, `${count} ${viele}`);
}

export const importText = texts({
  title: ["Import chats", "Chats importieren"],
  reading: ["Reading the file…", "Die Datei wird gelesen …"],
  progress: (done: number, all: number) =>
    say(`${done} of ${all} conversations`, `${done} von ${all} Unterhaltungen`),
  stop: ["Stop", "Anhalten"],
  imported: (count: number) =>
    count === 1
      ? say("Imported 1 conversation.", "1 Unterhaltung importiert.")
      : say(`Imported ${count} conversations.`, `${count} Unterhaltungen importiert.`),
  importedFrom: (count: number, source: string) =>
    count === 1
      ? say(`Imported 1 conversation from ${source}.`, `1 Unterhaltung aus ${source} importiert.`)
      : say(
          `Imported ${count} conversations from ${source}.`,
          `${count} Unterhaltungen aus ${source} importiert.`,
        ),
  stopped: (done: number, all: number) =>
    say(
      `Stopped: ${done} of ${all} conversations were imported.`,
      `Angehalten: ${done} von ${all} Unterhaltungen wurden importiert.`,
    ),
  unreadable: (count: number) =>
    count === 1
      ? say(
          "1 conversation was left out: it has no messages, or is damaged.",
          "1 Unterhaltung fehlt: Sie hat keine Nachrichten oder ist beschädigt.",
        )
      : say(
          `${count} conversations were left out: they have no messages, or are damaged.`,
          `${count} Unterhaltungen fehlen: Sie haben keine Nachrichten oder sind beschädigt.`,
        ),
  leftOutTitle: [
    "Left out, because the export only names it or Ingle cannot keep it:",
    "Nicht übernommen, weil der Export es nur nennt oder Ingle es nicht aufnehmen kann:",
  ],
  leftOut: {
    images: (count: number) => counted(count, ["image", "images"], ["Bild", "Bilder"]),
    audio: (count: number) => counted(count, ["recording", "recordings"], ["Tonaufnahme", "Tonaufnahmen"]),
    files: (count: number) =>
      counted(count, ["attached file", "attached files"], ["angehängte Datei", "angehängte Dateien"]),
    tools: (count: number) =>
      counted(
        count,
        ["call or result of a tool", "calls and results of tools"],
        ["Aufruf oder Ergebnis eines Werkzeugs", "Aufrufe und Ergebnisse von Werkzeugen"],
      ),
    others: (count: number) =>
      counted(
        count,
        ["part of an unknown kind", "parts of unknown kinds"],
        ["Teil unbekannter Art", "Teile unbekannter Art"],
      ),
  },
  failed: [
    "This file contains no chats that Ingle can read.",
    "Diese Datei enthält keine Chats, die Ingle lesen kann.",
  ],
  fileFailed: (name: string) =>
    say(
      `${name} contains no chats that Ingle can read.`,
      `${name} enthält keine Chats, die Ingle lesen kann.`,
    ),
  tooLarge: (name: string, max: string) =>
    say(`${name} is larger than ${max}.`, `${name} ist größer als ${max}.`),
});
