// What Ctrl-C and SIGTERM do to a command:
//
//   running --signal--> stopping --another one--> ended
//
// "stopping" aborts `signal`: a download or a load stops, a server drains. "ended" ends the process at once. While signals are diverted
// to a program in the foreground, they change no state.
import { CliError } from "./errors.ts";

type ShutdownSignal = "SIGINT" | "SIGTERM";

/** Also the end of a terminal, of which a command learns only while a program runs in its foreground. */
type DivertedSignal = ShutdownSignal | "SIGHUP";

/** 128 plus the signal's number, as in shells. */
const signalExitCodes: Record<ShutdownSignal, number> = { SIGINT: 130, SIGTERM: 143 };

/**
 * One Ctrl-C reaches every process of a terminal, and package managers forward theirs to the program that they started:
 * copies arrive within milliseconds, a second key press does not.
 */
const sameKeyPressMs = 150;

type State = { kind: "running" } | { kind: "stopping"; sinceMs: number } | { kind: "ended" };

/** Where signals come from: `process`, or an EventEmitter in tests. */
interface SignalSource {
  on(name: DivertedSignal, listener: () => void): unknown;
  off(name: DivertedSignal, listener: () => void): unknown;
}

interface ShutdownOptions {
  source: SignalSource;
  /** Ends the process. */
  exit: (code: number) => void;
  /** Monotonic milliseconds. */
  now: () => number;
}

/** Listens from construction until it is disposed. */
export class Shutdown implements Disposable {
  readonly #options: ShutdownOptions;
  readonly #abort = new AbortController();
  readonly #onInterrupt = (): void => this.receive("SIGINT");
  readonly #onTerminate = (): void => this.receive("SIGTERM");
  #state: State = { kind: "running" };
  #receiver: ((name: DivertedSignal) => void) | undefined;

  constructor(options: ShutdownOptions) {
    this.#options = options;
    options.source.on("SIGINT", this.#onInterrupt);
    options.source.on("SIGTERM", this.#onTerminate);
  }

  /** Aborted by the first signal, with the CliError (exit code 130 or 143) that ends an interrupted command. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get state(): State["kind"] {
    return this.#state.kind;
  }

  /** Handles a signal. Called by the source; a terminal in raw mode passes its Ctrl-C here. */
  receive(name: ShutdownSignal): void {
    const { now, exit } = this.#options;
    if (this.#receiver !== undefined) {
      this.#receiver(name);
      return;
    }
    if (this.#state.kind === "running") {
      this.#state = { kind: "stopping", sinceMs: now() };
      this.#abort.abort(new CliError("Stopped.", { exitCode: signalExitCodes[name] }));
    } else if (this.#state.kind === "stopping" && now() - this.#state.sinceMs >= sameKeyPressMs) {
      this.#state = { kind: "ended" };
      exit(signalExitCodes[name]);
    }
  }

  /** Until the result is disposed, signals go to `receiver` alone. One at a time. */
  divert(receiver: (name: DivertedSignal) => void): Disposable {
    const { source } = this.#options;
    const onHangUp = (): void => receiver("SIGHUP");
    this.#receiver = receiver;
    source.on("SIGHUP", onHangUp);
    return {
      [Symbol.dispose]: () => {
        source.off("SIGHUP", onHangUp);
        this.#receiver = undefined;
      },
    };
  }

  /** Resolves at the first signal. */
  async requested(): Promise<void> {
    if (this.signal.aborted) return;
    await new Promise((resolve) => this.signal.addEventListener("abort", resolve, { once: true }));
  }

  [Symbol.dispose](): void {
    this.#options.source.off("SIGINT", this.#onInterrupt);
    this.#options.source.off("SIGTERM", this.#onTerminate);
  }
}

/** Closes a server at the first signal: its running requests finish. A second signal ends the process meanwhile. */
export async function drain(
  { openRequests, close }: { openRequests: number; close: () => Promise<void> },
  { stderr }: { stderr: { write(text: string): unknown } },
): Promise<void> {
  const requests = openRequests === 1 ? "1 request is" : `${openRequests} requests are`;
  stderr.write(
    openRequests === 0
      ? "\nStopping.\n"
      : `\nStopping: ${requests} still running. Press Ctrl-C again to stop at once.\n`,
  );
  await close();
  stderr.write("Stopped.\n");
}
