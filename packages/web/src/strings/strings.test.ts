import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

import { settingFields } from "../sampling/settings-fields.ts";
import { de } from "./de.ts";
import { en } from "./en.ts";
import { preferredLanguage } from "./strings.ts";

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

/** The paths of all texts, such as `app.close`. */
function paths(value: object, prefix = ""): string[] {
  return Object.entries(value).flatMap(([key, entry]: [string, unknown]) =>
    typeof entry === "object" && entry !== null ? paths(entry, `${prefix}${key}.`) : [`${prefix}${key}`],
  );
}

describe("German", () => {
  it("has exactly the texts that English has", () => {
    expect(paths(de)).toEqual(paths(en));
  });
});

describe("English", () => {
  const src = path.dirname(import.meta.dirname);
  const texts = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$|^strings\b/.test(name))
    .map((name) => readFileSync(path.join(src, name), "utf8"));
  /** Texts whose keys the page computes: from the name of a setting, or the code of an error. */
  const computed = new Set([
    ...settingFields.flatMap(({ name }) => [`sampling.${name}`, `sampling.${name}Hint`]),
    ...Object.keys(en.errors).map((code) => `errors.${code}`),
  ]);

  /** Whether a file that reads this section also names the entry. A nested group counts as one entry. */
  const isUsed = (section: string, key: string) => {
    const reads = new RegExp(
      `strings\\.(?:value|peek\\(\\))\\.${section}\\b|\\b${section}\\b[^;]*\\} = strings\\.`,
    );
    const names = new RegExp(`\\.${key}\\b|[{,]\\s*${key}\\b[^;=]*\\} = |"${key}"`);
    return texts.some((text) => reads.test(text) && names.test(text));
  };

  it.each(Object.entries(en))("has no text under `%s` that nothing shows", (section, entries) => {
    const unused = Object.keys(entries).filter(
      (key) => !computed.has(`${section}.${key}`) && !isUsed(section, key),
    );
    expect(unused).toEqual([]);
  });
});
