// The traffic light of a model: whether it fits this machine, why, and which quantization would fit better. Pure.
import type { Machine, MemoryEstimate, OfferedModel } from "@ingle/protocol";

export type FitColour = "green" | "yellow" | "red";

/** Why a light has its colour. */
export type FitReason =
  /** It fits into the free memory. */
  | { kind: "fits"; needed: number; available: number }
  /** It fits into the machine, but other models or programs use the memory now. */
  | { kind: "busy"; needed: number; available: number }
  /** It would take nearly all memory. */
  | { kind: "nearly_all"; needed: number; total: number }
  /** It fits with a shorter context. */
  | { kind: "shorter"; needed: number; contextLength: number; contextLengthMax: number }
  /** The machine has less memory than it needs. */
  | { kind: "too_large"; needed: number; total: number };

export interface Fit {
  colour: FitColour;
  reason: FitReason;
  /** A model of the same repository that fits better, if there is one. */
  better: OfferedModel | null;
}

/** Share of all memory. Beyond it, the system starts to swap out other programs. */
const comfortableShare = 0.85;

type MachineMemory = Pick<Machine, "memory_bytes" | "available_bytes" | "devices">;

/** The light of a model on the hub, compared with the other models of its repository. */
export function rateOffer(
  model: OfferedModel,
  siblings: readonly OfferedModel[],
  machine: MachineMemory,
): Fit {
  const reason = fitReason(model, machine);
  const colour = fitColour(reason);
  return { colour, reason, better: colour === "green" ? null : betterThan(model, siblings, machine) };
}

/** The light of an installed model, from the server's estimate. */
export function rateEstimate(estimate: MemoryEstimate): Omit<Fit, "better"> {
  const { memory_bytes: needed, available_bytes: available } = estimate;
  const room = available ?? Number.POSITIVE_INFINITY;
  switch (estimate.fits) {
    case "yes":
      return { colour: "green", reason: { kind: "fits", needed, available: room } };
    case "no":
      return { colour: "red", reason: { kind: "too_large", needed, total: room } };
    case "tight": {
      const { context_length: contextLength, context_length_max: contextLengthMax } = estimate;
      return {
        colour: "yellow",
        reason:
          contextLengthMax < contextLength || needed <= room
            ? { kind: "shorter", needed, contextLength, contextLengthMax }
            : { kind: "busy", needed, available: room },
      };
    }
  }
}

function fitReason(model: OfferedModel, machine: MachineMemory): FitReason {
  const needed = model.memory_bytes;
  const total = Math.max(machine.memory_bytes, ...cards(machine).map((card) => card.memory_bytes));
  // The server also considers its memory budget.
  if (!model.fits) return { kind: "too_large", needed, total };
  const available = Math.max(machine.available_bytes, ...cards(machine).map((card) => card.free_bytes));
  if (needed > available) return { kind: "busy", needed, available };
  if (needed > total * comfortableShare) return { kind: "nearly_all", needed, total };
  return { kind: "fits", needed, available };
}

/** Graphics cards with their own memory. */
function cards({ devices }: MachineMemory): Machine["devices"] {
  return devices.filter(({ kind }) => kind === "gpu");
}

function fitColour({ kind }: FitReason): FitColour {
  if (kind === "fits") return "green";
  return kind === "too_large" ? "red" : "yellow";
}

/** The largest smaller model with a better colour; larger files are more exact. */
function betterThan(
  model: OfferedModel,
  siblings: readonly OfferedModel[],
  machine: MachineMemory,
): OfferedModel | null {
  const largestFirst = siblings
    .filter((other) => other.id !== model.id && other.memory_bytes < model.memory_bytes)
    .toSorted((a, b) => b.size_bytes - a.size_bytes);
  const withColour = (colour: FitColour): OfferedModel | undefined =>
    largestFirst.find((other) => fitColour(fitReason(other, machine)) === colour);
  return withColour("green") ?? (model.fits ? null : (withColour("yellow") ?? null));
}

/** The recommended model of a repository: Q4_K_M if it has a green light, else the largest with one, else none. */
export function recommendModel(models: readonly OfferedModel[], machine: MachineMemory): OfferedModel | null {
  const green = models.filter((model) => fitColour(fitReason(model, machine)) === "green");
  const usual = green.find(({ quantization }) => quantization === "Q4_K_M");
  return usual ?? green.toSorted((a, b) => b.size_bytes - a.size_bytes)[0] ?? null;
}
