import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { curlLine, formatBytes, formatColumns, formatDuration, shellWord } from "./text.ts";

/** The arguments that sh passes to curl. */
function argumentsOfCurl(line: string): string[] {
  const output = execFileSync("/bin/sh", ["-c", `curl() { printf '%s\\0' "$@"; }\n${line}`], {
    encoding: "utf8",
  });
  return output.split("\0").slice(0, -1);
}

describe("formatBytes", () => {
  it.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1 KiB"],
    [322_591_712, "308 MiB"],
    [1.5 * 1024 ** 3, "1.5 GiB"],
    [5000 * 1024 ** 4, "4.88 PiB"],
  ])("writes %i as %s", (bytes, text) => expect(formatBytes(bytes)).toBe(text));
});

describe("formatDuration", () => {
  it.each([
    [40, "0.0 s"],
    [9940, "9.9 s"],
    [12_400, "12 s"],
    [59_700, "1 min 0 s"],
    [185_000, "3 min 5 s"],
  ])("writes %i ms as %s", (ms, text) => expect(formatDuration(ms)).toBe(text));
});

describe("formatColumns", () => {
  it("aligns the values", () => {
    expect(
      formatColumns([
        ["a", "1"],
        ["long", "2"],
      ]),
    ).toBe("a     1\nlong  2\n");
  });
});

describe.skipIf(process.platform === "win32")("for sh", () => {
  it("quotes any text so that sh returns it unchanged", () => {
    const text = fc.string({ unit: "grapheme" }).filter((value) => !value.includes("\0"));
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), (words) => {
        expect(argumentsOfCurl(`curl ${words.map(shellWord).join(" ")}`)).toEqual(words);
      }),
      { numRuns: 20 },
    );
  });

  it("writes a curl line whose arguments survive a model id with quotes and spaces", () => {
    const id = `it's "my" $HOME model`;
    const args = argumentsOfCurl(curlLine("http://127.0.0.1:1337", id, { keyed: false }));
    expect(args.slice(0, 4)).toEqual([
      "http://127.0.0.1:1337/v1/chat/completions",
      "-H",
      "Content-Type: application/json",
      "-d",
    ]);
    expect(JSON.parse(args[4] ?? "")).toMatchObject({ model: id, messages: [{ role: "user" }] });
    expect(args).toHaveLength(5);
  });

  it("adds a key to the curl line of a server that requires one", () => {
    const args = argumentsOfCurl(curlLine("http://127.0.0.1:1337", "tiny", { keyed: true }));
    expect(args).toContain("Authorization: Bearer YOUR_KEY");
  });
});
