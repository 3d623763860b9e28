// The `/v1` server that the app's page starts and stops. It has its own port and keys; loaded models belong to the app and stay in
// memory when it stops. server-state.ts defines its states and transitions.
import type { ServerControl, ServerSettings, ServerSettingsChange, WireErrorCode } from "@ingle/protocol";
import { EngineError } from "@ingle/engine";
import { KeyRing } from "../access/keys.ts";
import { ConfigError, isOpenToOthers } from "../config.ts";
import { toWireError } from "../http/to-wire-error.ts";
import { WireError } from "../wire-error.ts";
import type { KeptKeys } from "./kept-keys.ts";
import type { KeptSettings } from "./kept-settings.ts";
import { isAtRest, moved, type OpenListener, type Running, type ServerState } from "./server-state.ts";

export interface ControlledServerOptions {
  settings: KeptSettings;
  keys: KeptKeys;
  /** Loads the models of the settings. Throws the error of a model that cannot be loaded, or the signal's reason. */
  loadModels: (settings: ServerSettings, signal: AbortSignal) => Promise<void>;
  /** Starts to listen on the settings' port, or the next free one. Throws ConfigError. */
  listen: (settings: ServerSettings, keys: KeyRing) => Promise<OpenListener>;
  /** Gets the whole error for the log; the state has only a sentence. */
  onFailure: (error: unknown, what: string) => void;
}

/** Fields that only the next start reads: they may change at any time. */
const readAtStart: ReadonlySet<string> = new Set<keyof ServerSettings>(["models", "starts_with_app"]);

export class ControlledServer {
  readonly #options: ControlledServerOptions;
  #state: ServerState = { kind: "stopped" };
  /** Of the current or last start; aborted when the server is stopped. */
  #startAbort = new AbortController();
  /** Neither rejects: the state shows the result. */
  #starting: Promise<void> = Promise.resolve();
  #stopping: Promise<void> = Promise.resolve();

  constructor(options: ControlledServerOptions) {
    this.#options = options;
  }

  get keys(): KeptKeys {
    return this.#options.keys;
  }

  /** The response of GET /api/v1/server. */
  view(): ServerControl {
    const state = this.#state;
    const running = "running" in state ? state.running : undefined;
    return {
      status: state.kind,
      can_control: true,
      url: running?.listener.url ?? null,
      moved_from_port: running?.movedFromPort ?? null,
      needs_key: running?.keys.isNeeded ?? this.keys.size > 0,
      open_requests: running?.listener.openRequests() ?? 0,
      error: state.kind === "failed" ? state.error : null,
      error_code: state.kind === "failed" ? state.code : null,
      settings: this.#options.settings.current,
    };
  }

  /**
   * Starts the server unless it is running or starting. Resolves when it is running, has failed (the state has the reason) or was
   * stopped in the meantime. Throws `invalid_request` while it is stopping.
   */
  async start(): Promise<void> {
    if (this.#state.kind === "stopping") {
      const message = "The server is stopping. Start it again when its last requests are done.";
      throw new WireError("invalid_request", message);
    }
    if (isAtRest(this.#state)) {
      this.#startAbort = new AbortController();
      this.#move({ kind: "loading" });
      this.#starting = this.#start(this.#startAbort.signal);
    }
    await this.#starting;
  }

  /**
   * Refuses new requests, waits for running ones until the listener's deadline, and closes. Cancels a start in progress.
   * Clears a failure. Resolves when the server has stopped.
   */
  async stop(options: { deadlineMs?: number | undefined } = {}): Promise<void> {
    if (this.#state.kind === "failed") this.#move({ kind: "stopped" });
    if (this.#state.kind === "stopped") return;
    if (this.#state.kind !== "stopping") {
      const running = this.#state.kind === "running" ? this.#state.running : undefined;
      this.#move({ kind: "stopping", running });
      this.#startAbort.abort(new WireError("shutting_down", "The server was stopped before it was ready."));
      this.#stopping = this.#stop(running, options);
    }
    await this.#stopping;
  }

  /** Throws `invalid_request` for an invalid value, or if the server must be stopped first. */
  async change(change: ServerSettingsChange): Promise<void> {
    await this.#options.settings.change(change, () => this.#assertCanChange(change));
    if (this.#state.kind === "failed") this.#move({ kind: "stopped" }); // the change may have fixed the cause
  }

  /** Never rejects. */
  async #start(stopped: AbortSignal): Promise<void> {
    const { settings, loadModels, listen, onFailure } = this.#options;
    try {
      await settings.settled();
      const requested = settings.current;
      this.#assertProtected(requested);
      await loadModels(requested, stopped);
      stopped.throwIfAborted();
      this.#move({ kind: "starting" });
      const keys = new KeyRing();
      this.keys.keepIn(keys);
      const listener = await listen(requested, keys);
      if (stopped.aborted) return await listener.close({ deadlineMs: 0 });
      const movedFromPort = listener.port === requested.port ? null : requested.port;
      this.#move({ kind: "running", running: { listener, keys, movedFromPort } });
    } catch (error) {
      if (stopped.aborted) return; // stop() sets the next state
      onFailure(error, "the server could not be started");
      this.#move({ kind: "failed", error: failureSentence(error), code: failureCode(error) });
    }
  }

  /** Never rejects. */
  async #stop(running: Running | undefined, options: { deadlineMs?: number | undefined }): Promise<void> {
    await this.#starting;
    try {
      await running?.listener.close(options);
    } catch (error) {
      this.#options.onFailure(error, "the server did not close cleanly");
    }
    this.#move({ kind: "stopped" });
  }

  /** An address that others can reach needs a key. */
  #assertProtected({ host }: ServerSettings): void {
    const { keys } = this.#options;
    if (keys.problem !== undefined)
      throw new WireError("invalid_request", `${keys.problem} Create the server's keys again.`);
    if (!isOpenToOthers({ host, hasKeys: keys.size > 0 })) return;
    throw new WireError(
      "invalid_request",
      `Other machines can reach the server on ${host}, but it has no key. Create one, or choose the host 127.0.0.1.`,
    );
  }

  #assertCanChange(change: ServerSettingsChange): void {
    const needsRestart = Object.keys(change).some((name) => !readAtStart.has(name));
    if (!needsRestart || isAtRest(this.#state)) return;
    throw new WireError(
      "invalid_request",
      "Stop the server before changing these settings: it is running with them.",
    );
  }

  #move(next: ServerState): void {
    this.#state = moved(this.#state, next);
  }
}

/** The message of a known error. Unexpected errors stay in the log: they may hold paths or secrets. */
function failureSentence(error: unknown): string {
  const isPublic = error instanceof WireError || error instanceof ConfigError || EngineError.is(error);
  return isPublic ? error.message : "The server could not be started; the log has the reason.";
}

/** What is wrong with the settings is the user's to change. */
function failureCode(error: unknown): WireErrorCode {
  return error instanceof ConfigError ? "invalid_request" : toWireError(error).code;
}
