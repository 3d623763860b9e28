// The words of the page in the language of the person: `strings.value.app.close`. English is the shape that others follow.
import { signal } from "@preact/signals";

import { en } from "./en.ts";

/** Every text of the page; parametric ones are functions. */
export type Strings = typeof en;

export const languages = ["en", "de"] as const;
export type Language = (typeof languages)[number];

/** Where the choice is kept; absent means the browser's language. */
const storageKey = "ingle-language";

/** The present texts. Components that read it are drawn again when the language changes. */
export const strings = signal<Strings>(en);
export const language = signal<Language>("en");

/** The language that was chosen, or else the first of the browser's that there is. */
export function preferredLanguage(chosen: string | null, browser: readonly string[]): Language {
  const wanted = [chosen ?? "", ...browser].map((tag) => tag.toLowerCase().split("-")[0]);
  return (
    wanted.map((tag) => languages.find((known) => known === tag)).find((known) => known !== undefined) ?? "en"
  );
}

/** Begins with the person's language; called before anything is drawn. */
export async function startLanguage(): Promise<void> {
  await applyLanguage(preferredLanguage(localStorage.getItem(storageKey), navigator.languages));
}

/** Changes the language for good. */
export async function chooseLanguage(name: Language): Promise<void> {
  localStorage.setItem(storageKey, name);
  await applyLanguage(name);
}

async function applyLanguage(name: Language): Promise<void> {
  strings.value = name === "en" ? en : (await import("./de.ts")).de;
  language.value = name;
  document.documentElement.lang = name;
}
