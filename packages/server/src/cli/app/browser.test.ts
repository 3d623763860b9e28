import { expect, it } from "vitest";
import { hasScreen, openPage, windowFamily } from "./browser.ts";

it.each([
  ["google-chrome.desktop", "chrome"],
  ["com.google.chrome", "chrome"],
  ["chromium_chromium.desktop", "chrome"],
  ["brave-browser.desktop", "brave"],
  ["com.microsoft.edgemac", "edge"],
  ["firefox.desktop", undefined],
  ["com.apple.safari", undefined],
  ["", undefined],
])("the default browser %s has windows of %s", (id, family) => {
  expect(windowFamily(id)).toBe(family);
});

it.each([
  ["linux", {}, false],
  ["linux", { DISPLAY: "" }, false],
  ["linux", { DISPLAY: ":0" }, true],
  ["linux", { WAYLAND_DISPLAY: "wayland-0" }, true],
  ["linux", { WSL_DISTRO_NAME: "Debian" }, true],
  ["darwin", {}, true],
  ["win32", {}, true],
] as const)("on %s with %j there is a display: %s", (platform, env, isSo) => {
  expect(hasScreen(platform, env)).toBe(isSo);
});

it.runIf(process.platform === "linux")("no browser is started without a display", async () => {
  await expect(openPage("http://127.0.0.1:1/", {})).rejects.toThrow("No display");
});
