import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";

import { moreFields, settingFields } from "../conversations/settings-fields.ts";
import { appText } from "./app.ts";
import { chatText } from "./chat.ts";
import { documentsText } from "./documents.ts";
import { errorTexts } from "./error-message.ts";
import { importText } from "./imports.ts";
import { language, preferredLanguage } from "./language.ts";
import { libraryText } from "./library.ts";
import { firstRunText, machineText, plainText, settingsText } from "./pages.ts";
import { samplingText } from "./sampling.ts";
import { serverText } from "./server.ts";
import { toolsText } from "./tools.ts";

const tables = {
  appText,
  chatText,
  documentsText,
  errorTexts,
  firstRunText,
  importText,
  libraryText,
  machineText,
  plainText,
  samplingText,
  serverText,
  settingsText,
  toolsText,
};

afterEach(() => {
  language.value = "en";
});

describe("preferredLanguage", () => {
  it("takes the choice before the browser's languages", () => {
    expect(preferredLanguage("en", ["de-AT"])).toBe("en");
    expect(preferredLanguage(null, ["de-AT", "en"])).toBe("de");
  });

  it("falls back to English", () => {
    expect(preferredLanguage(null, ["fr", "es"])).toBe("en");
    expect(preferredLanguage("xx", [])).toBe("en");
  });

  it("takes the first of the browser's languages that the page has", () => {
    expect(preferredLanguage(null, ["fr-FR", "de", "en"])).toBe("de");
  });
});

/** All texts by their path, such as `close`; those with parameters are called with "2" for each. */
function shown(value: object, prefix = ""): [string, unknown][] {
  return Object.entries(value).flatMap(([key, entry]: [string, unknown]) => {
    if (typeof entry === "object" && entry !== null) return shown(entry, `${prefix}${key}.`);
    const text: unknown = typeof entry === "function" ? Reflect.apply(entry, undefined, ["2", "2"]) : entry;
    return [[`${prefix}${key}`, text] satisfies [string, unknown]];
  });
}

describe("a table of texts", () => {
  it.each(Object.entries(tables))(
    "%s has exactly the same texts in German and in English",
    (_name, table) => {
      const english = shown(table);
      language.value = "de";
      const german = shown(table);
      expect(german.map(([name]) => name)).toEqual(english.map(([name]) => name));
      expect(german.filter(([, text]) => typeof text !== "string")).toEqual([]);
    },
  );

  it("follows the language", () => {
    const { close } = appText;
    language.value = "de";
    expect([close, appText.close]).toEqual(["Close", "Schließen"]);
    expect(chatText.answersCount(2)).toBe("2 Antworten");
    expect(chatText.ages.today).toBe("Heute");
  });

  const src = path.dirname(import.meta.dirname);
  const files = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
    .map((name) => readFileSync(path.join(src, name), "utf8"));
  /** Texts whose keys the page computes: from the name of a setting, of a page, or the code of an error. */
  const computed = new Set([
    ...[...settingFields, ...moreFields].flatMap(({ name }) => [
      `samplingText.${name}`,
      `samplingText.${name}Hint`,
    ]),
    ...Object.keys(errorTexts).map((code) => `errorTexts.${code}`),
  ]);

  /** Whether a file reads the entry of this table. A nested group counts as one entry. */
  const isUsed = (table: string, key: string) => {
    const read = new RegExp(`\\b${table}\\.${key}\\b|\\b${key}\\b[^;=]*\\} = ${table}\\b`);
    const computedRead = new RegExp(`\\b${table}\\[`);
    return files.some((text) => read.test(text) || (computedRead.test(text) && text.includes(`"${key}"`)));
  };

  it.each(Object.entries(tables))("%s has no text that nothing shows", (table, entries) => {
    const unused = Object.keys(entries).filter(
      (key) => !computed.has(`${table}.${key}`) && !isUsed(table, key),
    );
    expect(unused).toEqual([]);
  });
});
