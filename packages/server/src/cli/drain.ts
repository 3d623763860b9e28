// How a server that runs in a terminal comes to its end: with its last requests. Used by serve and app.
import type { CommandContext } from "./context.ts";

/** Lets running requests end. A second signal leaves the process meanwhile (signals.ts). */
export async function drain(
  { openRequests, close }: { openRequests: number; close: () => Promise<void> },
  { stderr }: CommandContext,
): Promise<void> {
  const what = openRequests === 1 ? "1 request still runs" : `${openRequests} requests still run`;
  stderr.write(openRequests === 0 ? "\nStopping.\n" : `\nStopping: ${what}. Ctrl-C again stops at once.\n`);
  await close();
  stderr.write("Stopped.\n");
}
