// Opens the app's page in the user's browser, in a window of its own if the default browser can do that.

/** The environment with `DISPLAY` and the like. */
type Environment = Readonly<Record<string, string | undefined>>;

/** Resolves when a browser was started. Throws if there is none, or no display. */
export async function openPage(address: string, env: Environment = process.env): Promise<void> {
  if (!hasScreen(process.platform, env)) throw new Error("No display was found.");
  const { default: open } = await import("open");
  if (await openWindow(address)) return;
  await open(address);
}

/** On systems other than Linux, the browser itself fails to start without a display. */
export function hasScreen(platform: NodeJS.Platform, env: Environment): boolean {
  if (platform !== "linux") return true;
  return ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].some((name) => (env[name] ?? "") !== "");
}

/** Returns whether the default browser opened it in a window without tabs and address bar. */
async function openWindow(address: string): Promise<boolean> {
  const [{ apps, openApp }, { default: defaultBrowser }] = await Promise.all([
    import("open"),
    import("default-browser"),
  ]);
  try {
    const family = windowFamily((await defaultBrowser()).id);
    if (family === undefined) return false;
    // One after another: given all names at once, openApp() would wait until the browser is closed.
    for (const name of [apps[family]].flat()) {
      try {
        await openApp(name, { arguments: [`--app=${address}`], newInstance: true });
        return true;
      } catch {
        // The browser may have another name on this system.
      }
    }
    return false;
  } catch {
    return false; // the default browser is unknown, or cannot be started that way
  }
}

/** Browsers that support `--app`, by the default browser's id on any system. */
export function windowFamily(id: string): "chrome" | "brave" | "edge" | undefined {
  if (/edge/i.test(id)) return "edge";
  if (/brave/i.test(id)) return "brave";
  return /chrom/i.test(id) ? "chrome" : undefined;
}
