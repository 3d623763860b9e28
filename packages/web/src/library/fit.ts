// The traffic light of a model: whether this machine has room for it, why, and which level would fit better. Pure; the
// sentences are made of it in strings/.
import type { Machine, MemoryEstimate, OfferedModel } from "@ingle/protocol";

export type FitColour = "green" | "yellow" | "red";

/** Why a light has its colour. */
export type FitReason =
  /** It fits into what is free now. */
  | { kind: "fits"; needed: number; available: number }
  /** It fits into the machine, but other models or programs hold the memory now. */
  | { kind: "busy"; needed: number; available: number }
  /** It would take nearly all of the memory. */
  | { kind: "nearly_all"; needed: number; total: number }
  /** It fits with a shorter context than the model has. */
  | { kind: "shorter"; needed: number; contextLength: number; contextLengthMax: number }
  /** The machine has less memory than it needs. */
  | { kind: "too_large"; needed: number; total: number };

export interface Fit {
  colour: FitColour;
  reason: FitReason;
  /** A level of the same repository that fits better; null where this is as good as any, or where none does. */
  better: OfferedModel | null;
}

/** Of all memory: beyond it the system and other programs begin to be swapped out. */
const comfortableShare = 0.85;

type MachineMemory = Pick<Machine, "memory_bytes" | "available_bytes" | "devices">;

/** The light of a model that is not here yet, among the other models of its repository. */
export function fitOfOffer(
  model: OfferedModel,
  siblings: readonly OfferedModel[],
  machine: MachineMemory,
): Fit {
  const reason = reasonOf(model, machine);
  const colour = colourOf(reason);
  return { colour, reason, better: colour === "green" ? null : betterThan(model, siblings, machine) };
}

/** The light of an installed model, from what the server has measured. */
export function fitOfEstimate(estimate: MemoryEstimate): Omit<Fit, "better"> {
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

function reasonOf(model: OfferedModel, machine: MachineMemory): FitReason {
  const needed = model.memory_bytes;
  const total = Math.max(machine.memory_bytes, ...cards(machine).map((card) => card.memory_bytes));
  // The server knows its own budget; a machine's memory alone does not tell it.
  if (!model.fits) return { kind: "too_large", needed, total };
  const available = Math.max(machine.available_bytes, ...cards(machine).map((card) => card.free_bytes));
  if (needed > available) return { kind: "busy", needed, available };
  if (needed > total * comfortableShare) return { kind: "nearly_all", needed, total };
  return { kind: "fits", needed, available };
}

/** Cards with memory of their own. */
function cards({ devices }: MachineMemory): Machine["devices"] {
  return devices.filter(({ kind }) => kind === "gpu");
}

function colourOf({ kind }: FitReason): FitColour {
  if (kind === "fits") return "green";
  return kind === "too_large" ? "red" : "yellow";
}

/** The largest other level with a better colour: more bytes are more of what the model knew. */
function betterThan(
  model: OfferedModel,
  siblings: readonly OfferedModel[],
  machine: MachineMemory,
): OfferedModel | null {
  const largestFirst = siblings
    .filter((other) => other.id !== model.id && other.memory_bytes < model.memory_bytes)
    .toSorted((a, b) => b.size_bytes - a.size_bytes);
  const withColour = (colour: FitColour): OfferedModel | undefined =>
    largestFirst.find((other) => colourOf(reasonOf(other, machine)) === colour);
  return withColour("green") ?? (model.fits ? null : (withColour("yellow") ?? null));
}

/** What is recommended of a repository: Q4_K_M where it has a green light, else the largest that has one, else nothing. */
export function recommendedOf(models: readonly OfferedModel[], machine: MachineMemory): OfferedModel | null {
  const green = models.filter((model) => colourOf(reasonOf(model, machine)) === "green");
  const usual = green.find(({ quantization }) => quantization === "Q4_K_M");
  return usual ?? green.toSorted((a, b) => b.size_bytes - a.size_bytes)[0] ?? null;
}
