// Opens the page of the app in the person's browser: in a window of its own where the default browser can do that. Used by
// `ingle app`.

/** Where `DISPLAY` and the like are looked for. */
type Environment = Readonly<Record<string, string | undefined>>;

/** Resolves when a browser was started. Throws where there is none, or no screen to show it on. */
export async function openPage(address: string, env: Environment = process.env): Promise<void> {
  if (!hasScreen(process.platform, env)) throw new Error("There is no screen here.");
  const { default: open } = await import("open");
  if (await openWindow(address)) return;
  await open(address);
}

/** Elsewhere than on Linux there is one, or the browser's start fails. */
export function hasScreen(platform: NodeJS.Platform, env: Environment): boolean {
  if (platform !== "linux") return true;
  return ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].some((name) => (env[name] ?? "") !== "");
}

/** Whether the default browser has opened it in a window without tabs and address bar. */
async function openWindow(address: string): Promise<boolean> {
  const [{ apps, openApp }, { default: defaultBrowser }] = await Promise.all([
    import("open"),
    import("default-browser"),
  ]);
  try {
    const family = windowFamily((await defaultBrowser()).id);
    if (family === undefined) return false;
    // One after the other: given all of them, openApp() would wait until the browser is closed.
    for (const name of [apps[family]].flat()) {
      try {
        await openApp(name, { arguments: [`--app=${address}`], newInstance: true });
        return true;
      } catch {
        // It has another name on this system.
      }
    }
    return false;
  } catch {
    return false; // which one is the default cannot be told, or none of this system's can do it
  }
}

/** The browsers that know `--app`, by the name of the default one on any system. */
export function windowFamily(id: string): "chrome" | "brave" | "edge" | undefined {
  if (/edge/i.test(id)) return "edge";
  if (/brave/i.test(id)) return "brave";
  return /chrom/i.test(id) ? "chrome" : undefined;
}
