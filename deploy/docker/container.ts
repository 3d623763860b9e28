// What the test of the images asks of one, and of a container of it: by a container engine where there is one, and without one in
// bare systems.
import type { ImageConfig } from "./dockerfile.ts";

/** Disposing of it removes it. */
export interface Image extends AsyncDisposable {
  readonly config: ImageConfig;
  /** What a folder of it takes on disk. */
  bytes(folder: string): Promise<number>;
  /** Runs its command on a read-only root. `models` is a folder of this machine, mounted at /models. */
  start(options: { env: Record<string, string>; models: string }): Promise<Container>;
}

/** Disposing of it ends it. */
export interface Container extends AsyncDisposable {
  /** Runs a command inside, as the image's user, to its end. */
  exec(command: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** What the server has written so far. */
  log(): Promise<string>;
  /** The number of the user that the server runs as. */
  userOfServer(): Promise<string | undefined>;
  /** Resolves with the server's exit code when it has ended by itself. */
  ended(): Promise<number | null>;
  /** Sends SIGTERM to the server; resolves with its exit code. */
  stop(): Promise<number | null>;
}
