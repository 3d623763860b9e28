// What every record store does, as the simplest model of one, for the tests of the stores.
import fc from "fast-check";
import { expect } from "vitest";
import type { RecordStore, StoredRecord, StoreLimits } from "../src/stored/record-store.ts";

export const limits: StoreLimits = { countMax: 5, bytesMax: 40, ageMaxMs: 100 };

type Command =
  | { kind: "put"; record: StoredRecord }
  | { kind: "get" | "delete"; id: string; owner: string }
  | { kind: "wait"; ms: number };

const id = fc.constantFrom("a", "b", "c", "d", "e", "f", "g");
const owner = fc.constantFrom("", "one", "two");
const text = fc.string({ unit: "grapheme", maxLength: 25 });

export const anyCommands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("put"), record: fc.record({ id, owner, text }) }),
    fc.record({ kind: fc.constantFrom("get", "delete"), id, owner }),
    fc.record({ kind: fc.constant("wait"), ms: fc.integer({ min: 0, max: 60 }) }),
  ),
  { maxLength: 60 },
);

/** Runs the commands on the store and on the model. @param setNow sets the store's clock */
export function expectAsModel(
  store: RecordStore,
  commands: readonly Command[],
  setNow: (ms: number) => void,
): void {
  let now = 0;
  /** Oldest first. */
  let records: (StoredRecord & { at: number })[] = [];
  const bytes = () => records.reduce((sum, record) => sum + Buffer.byteLength(record.text), 0);
  const find = (command: { id: string; owner: string }) =>
    records.find((record) => record.id === command.id && record.owner === command.owner);

  for (const command of commands) {
    records = records.filter(({ at }) => at >= now - limits.ageMaxMs);
    if (command.kind === "wait") {
      now += command.ms;
      setNow(now);
    } else if (command.kind === "put") {
      const fits = Buffer.byteLength(command.record.text) <= limits.bytesMax;
      if (fits) {
        records = records.filter((record) => record.id !== command.record.id);
        records.push({ ...command.record, at: now });
      }
      while (records.length > limits.countMax || bytes() > limits.bytesMax) records.shift();
      expect(store.put(command.record)).toBe(fits);
    } else if (command.kind === "get") {
      expect(store.get(command.id, command.owner)).toBe(find(command)?.text);
    } else {
      const found = find(command);
      records = records.filter((record) => record !== found);
      expect(store.delete(command.id, command.owner)).toBe(found !== undefined);
    }
  }
  records = records.filter(({ at }) => at >= now - limits.ageMaxMs);
  for (const record of records) expect(store.get(record.id, record.owner)).toBe(record.text);
}
