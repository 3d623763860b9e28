import { describe, expect, it } from "vitest";

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

  it("takes the first of the browser's languages that there is", () => {
    expect(preferredLanguage(null, ["fr-FR", "de", "en"])).toBe("de");
  });
});

/** The paths of all texts, `app.close` and so on. */
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
