// The interface of an image and its containers for the image tests, with two implementations: a container engine
// (engine-image.ts), and minimal systems without one (bare-image.ts).
import type { ImageConfig } from "./dockerfile.ts";

/** Disposing of it removes it. */
export interface Image extends AsyncDisposable {
  readonly config: ImageConfig;
  /** The size of one of its folders on disk, in bytes. */
  bytes(folder: string): Promise<number>;
  /** Runs the image's command on a read-only root. `models` is a folder of this machine, mounted at /models. */
  start(options: { env: Record<string, string>; models: string }): Promise<Container>;
}

/** Disposing of it stops it. */
export interface Container extends AsyncDisposable {
  /** Runs a command inside as the image's user, and waits for its end. */
  exec(command: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** The server's output so far. */
  log(): Promise<string>;
  /** The number of the user that the server runs as. */
  serverUser(): Promise<string | undefined>;
  /** Resolves with the exit code when the server ends by itself. */
  ended(): Promise<number | null>;
  /** Sends SIGTERM to the server; resolves with its exit code. */
  stop(): Promise<number | null>;
}
