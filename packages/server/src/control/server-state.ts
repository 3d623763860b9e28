// The states of the `/v1` server that the app starts and stops, and the moves between them.
//
//   stopped ──start──▶ loading ──models loaded──▶ starting ──listens──▶ running
//     ▲  ▲               │  │                      │  │                   │
//     │  └── forgotten ──┼──┼─────── failed ◀──────┘  │                   │
//     │                  │  └──────────▲              │                   │
//     │                  ▼                            ▼                   │
//     └─── closed ──── stopping ◀──────────stop───────┴───────stop────────┘
//
// A failed server is started like a stopped one.
import type { KeyRing } from "../access/key-ring.ts";

/** A listener, as far as its state is shown and it is closed. */
export interface OpenListener {
  /** Such as `http://127.0.0.1:1337`, with the port that is really used. */
  readonly url: string;
  readonly port: number;
  /** Requests for work that are not answered yet: what closing waits for. */
  openRequests(): number;
  /**
   * Takes no new requests, lets running ones end until the deadline (default: the config's), and cuts them then. The models
   * stay. Idempotent.
   */
  close(options?: { deadlineMs?: number | undefined }): Promise<void>;
}

/** A listener, and the keys that it asks for. */
export interface Running {
  readonly listener: OpenListener;
  readonly keys: KeyRing;
  /** The port that was asked for and taken; null where it was had. */
  readonly movedFromPort: number | null;
}

export type ServerState =
  | { kind: "stopped" }
  /** Models are loaded; nothing listens yet. */
  | { kind: "loading" }
  | { kind: "starting" }
  | { kind: "running"; running: Running }
  /** Takes no new requests and lets running ones end. `running` is absent if nothing listened yet. */
  | { kind: "stopping"; running?: Running | undefined }
  /** `error` is a sentence for a person. */
  | { kind: "failed"; error: string };

export type ServerStateKind = ServerState["kind"];

const movesFrom: Record<ServerStateKind, readonly ServerStateKind[]> = {
  stopped: ["loading"],
  loading: ["starting", "stopping", "failed"],
  starting: ["running", "stopping", "failed"],
  running: ["stopping"],
  stopping: ["stopped"],
  failed: ["loading", "stopped"],
};

/** The next state. A transition that is not in the drawing is a bug. */
export function moved(from: ServerState, to: ServerState): ServerState {
  if (!movesFrom[from.kind].includes(to.kind))
    throw new Error(`A server that is ${from.kind} cannot become ${to.kind}.`);
  return to;
}

/** Whether its settings can be changed: nothing has been made of them. */
export function isAtRest({ kind }: ServerState): boolean {
  return kind === "stopped" || kind === "failed";
}
