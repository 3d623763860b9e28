// Finds and starts the system's Chromium, without a window. chromium-headless-shell is the same browser without the code and the
// processes of windows: a page opens in half the processor time. What people use is measured.
import { accessSync, constants } from "node:fs";
import path from "node:path";
import { chromium, type Browser } from "playwright-core";

const shell = "chromium-headless-shell";
const names = ["chromium", "chromium-browser", "google-chrome", "chrome.exe"];

/** Where installers put it on systems where it is not on the PATH. */
const places = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  String.raw`C:\Program Files\Google\Chrome\Application\chrome.exe`,
];

/** No window, no GPU, and none of the requests that a browser makes for itself. */
const flags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export interface BrowserChoice {
  /** Whether times are measured: then, the whole browser is preferred. Default: false. */
  isMeasured?: boolean;
}

/** The path of the program. @throws Error that says what to install. */
export function findChromium(
  env: NodeJS.ProcessEnv,
  isThere: (file: string) => boolean = isProgram,
  { isMeasured = false }: BrowserChoice = {},
): string {
  const chosen = env["CHROMIUM_PATH"];
  if (chosen !== undefined && chosen !== "") {
    if (isThere(chosen)) return chosen;
    throw new Error(`CHROMIUM_PATH is ${chosen}, which is not an executable file.`);
  }
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(path.delimiter).filter((folder) => folder !== "");
  const inOrder = isMeasured ? [...names, shell] : [shell, ...names];
  const candidates = inOrder.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  const found = [...candidates, ...places].find((file) => isThere(file));
  if (found !== undefined) return found;
  throw new Error(
    "The tests of the page need Chromium: on Debian, install both (sudo apt-get install chromium chromium-headless-shell); " +
      "elsewhere install Chrome, or set CHROMIUM_PATH to the program.",
  );
}

export async function launchChromium(choice?: BrowserChoice): Promise<Browser> {
  const executablePath = findChromium(process.env, isProgram, choice);
  return chromium.launch({ executablePath, args: flags, chromiumSandbox: false });
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
