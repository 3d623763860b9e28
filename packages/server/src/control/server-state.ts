// The states of the `/v1` server that the app starts and stops, and the transitions between them.
//
//   stopped ──start──▶ loading ──models loaded──▶ starting ──listens──▶ running
//     ▲  ▲               │  │                      │  │                   │
//     │  └── forgotten ──┼──┼─────── failed ◀──────┘  │                   │
//     │                  │  └──────────▲              │                   │
//     │                  ▼                            ▼                   │
//     └─── closed ──── stopping ◀──────────stop───────┴───────stop────────┘
//
// A failed server can be started like a stopped one.
import type { WireErrorCode } from "@ingle/protocol";
import type { KeyRing } from "../access/keys.ts";

/** The parts of a listener that are used here: its state and `close()`. */
export interface OpenListener {
  /** Such as `http://127.0.0.1:1337`, with the actual port. */
  readonly url: string;
  readonly port: number;
  /** Open requests for work, which closing waits for. */
  openRequests(): number;
  /**
   * Refuses new requests, waits for running ones until the deadline (default: the config's), then cuts them. The models stay
   * loaded. Idempotent.
   */
  close(options?: { deadlineMs?: number | undefined }): Promise<void>;
}

/** A listener and its keys. */
export interface Running {
  readonly listener: OpenListener;
  readonly keys: KeyRing;
  /** The requested port, if it was taken; null if it was free. */
  readonly movedFromPort: number | null;
}

export type ServerState =
  | { kind: "stopped" }
  /** Models are loaded; nothing listens yet. */
  | { kind: "loading" }
  | { kind: "starting" }
  | { kind: "running"; running: Running }
  /** Refuses new requests and waits for running ones. `running` is absent if nothing was listening yet. */
  | { kind: "stopping"; running?: Running | undefined }
  /** `error` is a sentence for a person, `code` for programs. */
  | { kind: "failed"; error: string; code: WireErrorCode };

type ServerStateKind = ServerState["kind"];

const movesFrom: Record<ServerStateKind, readonly ServerStateKind[]> = {
  stopped: ["loading"],
  loading: ["starting", "stopping", "failed"],
  starting: ["running", "stopping", "failed"],
  running: ["stopping"],
  stopping: ["stopped"],
  failed: ["loading", "stopped"],
};

/** Returns the next state. A transition that is not in the diagram is a bug. */
export function moved(from: ServerState, to: ServerState): ServerState {
  if (!movesFrom[from.kind].includes(to.kind))
    throw new Error(`A server that is ${from.kind} cannot become ${to.kind}.`);
  return to;
}

/** Whether the settings can be changed: nothing uses them yet. */
export function isAtRest({ kind }: ServerState): boolean {
  return kind === "stopped" || kind === "failed";
}
