import path from "node:path";
import { describe, expect, it } from "vitest";

import { findChromium } from "./chromium.ts";

const PATH = ["/usr/local/bin", "/usr/bin"].join(path.delimiter);
const only = (file: string) => (asked: string) => asked === file;

describe("findChromium", () => {
  it("uses the program in CHROMIUM_PATH", () => {
    expect(findChromium({ CHROMIUM_PATH: "/opt/chrome", PATH }, only("/opt/chrome"))).toBe("/opt/chrome");
    expect(() => findChromium({ CHROMIUM_PATH: "/opt/none", PATH }, only("/usr/bin/chromium"))).toThrow(
      "CHROMIUM_PATH is /opt/none",
    );
  });

  it("prefers the one without windows, unless something is measured", () => {
    const measured = findChromium({ PATH }, () => true, { isMeasured: true });
    expect(measured).toBe(path.join("/usr/local/bin", "chromium"));
    expect(findChromium({ PATH }, () => true)).toBe(path.join("/usr/local/bin", "chromium-headless-shell"));
  });

  it.each(["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"])(
    "finds %s on the PATH",
    (name) => {
      const file = path.join("/usr/bin", name);
      expect(findChromium({ PATH }, only(file))).toBe(file);
    },
  );

  it("says which package to install if there is none", () => {
    expect(() => findChromium({ PATH }, () => false)).toThrow(
      "sudo apt-get install chromium chromium-headless-shell",
    );
  });
});
