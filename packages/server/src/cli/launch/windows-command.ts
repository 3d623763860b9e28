// Windows starts `.cmd` and `.bat` files only through cmd.exe, which reads the command line itself before it splits it into arguments.

/** How to start a program: arguments for `spawn`. */
interface SpawnCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Whether `args` are quoted already. */
  readonly isVerbatim: boolean;
}

/** What cmd.exe gives a meaning to, in and out of quotes. */
const special = /[()[\]%!^"`<>&|;, *?]/g;

/** `shell` is the path of cmd.exe. Other files than `.cmd` and `.bat` are started as they are. */
export function spawnCommand(
  program: string,
  args: readonly string[],
  { platform, shell = "cmd.exe" }: { platform: NodeJS.Platform; shell?: string | undefined },
): SpawnCommand {
  if (platform !== "win32" || !/\.(cmd|bat)$/i.test(program))
    return { file: program, args, isVerbatim: false };
  // A script of npm passes its arguments through cmd.exe a second time.
  const words = [escaped(program), ...args.map((argument) => escaped(escaped(quoted(argument))))];
  return { file: shell, args: ["/d", "/s", "/c", `"${words.join(" ")}"`], isVerbatim: true };
}

/** One argument in quotes, as the C runtime reads it: a backslash counts as one unless a quote follows. */
function quoted(argument: string): string {
  const text = argument.replaceAll(/(\\*)"/g, String.raw`$1$1\"`).replace(/(\\*)$/, "$1$1");
  return `"${text}"`;
}

function escaped(text: string): string {
  return text.replaceAll(special, "^$&");
}
