import { describe, expect, it } from "vitest";
import { spawnCommand } from "./windows-command.ts";

describe("a program", () => {
  it("is started as it is, except scripts on Windows", () => {
    const args = ["-c", 'name="value"'];
    for (const [program, platform] of [
      ["/usr/bin/tool", "linux"],
      ["C:\\tools\\tool.exe", "win32"],
      ["/usr/bin/tool.cmd", "darwin"],
    ] as const)
      expect(spawnCommand(program, args, { platform })).toEqual({ file: program, args, isVerbatim: false });
  });

  it("that is a script on Windows is started by cmd.exe", () => {
    const { file, args, isVerbatim } = spawnCommand("C:\\npm\\tool.cmd", ["exec"], {
      platform: "win32",
      shell: "C:\\Windows\\cmd.exe",
    });
    expect([file, isVerbatim]).toEqual(["C:\\Windows\\cmd.exe", true]);
    expect(args).toEqual(["/d", "/s", "/c", '"C:\\npm\\tool.cmd ^^^"exec^^^""']);
  });

  // What cmd.exe makes of the line: it removes a caret and takes what follows it as it is; npm's script does so once more.
  const unescaped = (text: string): string => text.replaceAll(/\^([\s\S])/g, "$1");
  /** How the C runtime splits one quoted argument. */
  const unquoted = (text: string): string =>
    text
      .slice(1, -1)
      .replaceAll(
        /(\\+)(?="|$)/g,
        (slashes) => "\\".repeat(Math.floor(slashes.length / 2)) + (slashes.length % 2 === 1 ? "\u0000" : ""),
      )
      .replaceAll("\u0000", "");

  it.each(["plain", 'model="a b"', "100% & more | <x>", "C:\\folder\\", 'a\\"b', "", "!x!", "^"])(
    "gets %j through two shells as one argument",
    (argument) => {
      const { args } = spawnCommand("tool.cmd", [argument], { platform: "win32" });
      const line = args[3] ?? "";
      expect(line.startsWith('"tool.cmd ')).toBe(true);
      const word = unescaped(unescaped(line.slice('"tool.cmd '.length, -1)));
      expect(unquoted(word)).toBe(argument);
    },
  );
});
