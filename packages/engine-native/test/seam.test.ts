// Compares the .d.ts files of seam with the rows of fields_of() in src: an object's properties must be the same on both sides. And
// compares the functions of the addon with those that index.js exports and the .d.ts files declare.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import * as exported from "../index.js";
import { findAddon } from "../find-addon.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const seam = readdirSync(path.join(root, "seam")).map((name) =>
  readFileSync(path.join(root, "seam", name), "utf8"),
);

/** Interfaces, and types of properties, with the struct that has their rows. */
const structs: Readonly<Record<string, string>> = {
  NativeContextOptions: "ContextOptions",
  NativeEngineOptions: "EngineOptions",
  NativeDraftOptions: "DraftModelOptions",
  NativeSampling: "Sampling",
  NativeRequest: "Submission",
  NativeStats: "Stats",
  NativeMemoryBytes: "MemoryBytes",
  NativeMemoryLimits: "MemoryLimits",
  NativeStoredBlocks: "Stored",
  NativeBlocksEvent: "KvBlocksEvent",
  NativeStepReport: "StepReport",
  NativePromptEvent: "PromptEvent",
  NativeTextEvent: "TextEvent",
  NativeTokenLogprob: "TokenLogprob",
  NativeTokenLogprobs: "TokenLogprobs",
  NativeFinishEvent: "FinishEvent",
  NativeEmbeddingEvent: "EmbeddingEvent",
  NativeErrorEvent: "FailureEvent",
  NativeSlotCommand: "SlotCommand",
  NativeSlotChange: "SlotChange",
  DeviceInfo: "Device",
  NativeLoadOptions: "ModelOptions",
  NativeAdapter: "AdapterFile",
  NativePlacement: "Placement",
  "NativePlacement.tensorOverrides": "TensorOverride",
  "NativePlacement.kvOverrides": "KvOverride",
  NativeProjector: "VisionOptions",
  NativeModelInfo: "ModelInfo",
  NativeArgumentRule: "ArgumentRule",
  NativeArgumentSkills: "ArgumentSkills",
  NativeChatTemplate: "TemplateSkills",
  "NativeModelInfo.tokens": "SpecialTokens",
  NativeTemplateResult: "TemplateResult",
  NativePrompt: "TokenizedChat",
  NativeThoughtSyntax: "ThoughtSyntax",
  NativeThoughtRules: "ThoughtRules",
  NativePieces: "Pieces",
  NativeMeasure: "Measured",
  "NativeMeasure.memories": "MemoryUse",
  NativeConnectOptions: "ConnectOptions",
  NativeServeOptions: "WorkerOptions",
  "NativeServeOptions.devices": "OfferedDevice",
  NativeMessage: "ChatMessage",
  NativePart: "ContentPart",
  NativeImage: "RgbImage",
  NativeAudio: "AudioFile",
  NativeImageText: "ImageText",
  NativeToolCall: "ToolCall",
  NativeTool: "Tool",
  NativeChat: "Chat",
  NativeMarkup: "Markup",
  "NativeChat.templateArguments": "TemplateArgument",
  NativeReply: "Reply",
  NativeQuantizeOptions: "QuantizeOptions",
  NativeImatrixOptions: "ImatrixOptions",
  NativeImatrixResult: "ImatrixResult",
};

/** Interfaces that have calls, that JavaScript only passes back, or that are written by hand. */
const withoutRows = [
  "NativeEngine",
  "NativeModel",
  "NativeModel.options",
  "NativeLoad",
  "AddonLoad",
  "AddonModel",
  "NativeEventPipe",
  "NativeSlotWork",
  "NativePreparation",
  "NativeImages",
  "NativeReplyParser",
  "NativeConstraint",
  "NativeWorker",
  "BuildInfo",
  "BuildInfo.llamaCpp",
];

/** Structs that are a part of another one's object, or of one that is written by hand. */
const parts = [
  "AdaptiveOptions",
  "DryOptions",
  "MirostatOptions",
  "RopeOptions",
  "ThreadPlacement",
  "StateFile",
  "StepTimes",
  "PreparedChat",
  "Prompt",
  "Error",
  "Lengths",
  "Removed",
  "BackendInfo",
];

/** An event's type is its struct's. The details of an error are added where the engine has a process of its own. */
const addedToEvents = ["type", "details"];

interface Declared {
  readonly inherited: string | undefined;
  readonly properties: string[];
}

/** The properties of each interface and of each object type in one, named by the interface and the property. */
function readInterfaces(): Map<string, Declared> {
  const found = new Map<string, Declared>();
  for (const declarations of seam) {
    const text = declarations.replaceAll(/\/\*\*[\s\S]*?\*\/|\/\/.*/g, "");
    for (const [, name = "", inherited, body = ""] of text.matchAll(
      /^export interface (\w+)(?: extends (\w+))? (\{[\s\S]*?^\})/gm,
    )) {
      const within: string[] = [];
      let property = "";
      for (const [token, declared] of body.matchAll(/[{}]|(\w+)\??:/g)) {
        if (token === "{") within.push(within.length === 0 ? name : `${within.at(-1) ?? ""}.${property}`);
        else if (token === "}") within.pop();
        property = declared ?? property;
        const type = within.at(-1);
        if (type === undefined) continue;
        const known = found.get(type) ?? { inherited: type === name ? inherited : undefined, properties: [] };
        found.set(type, known);
        if (declared !== undefined) known.properties.push(declared);
      }
    }
  }
  return found;
}

interface Table {
  readonly names: string[];
  /** The types of the members whose rows belong to the same object. */
  readonly inlined: string[];
}

/** The rows of each struct. */
function readTables(): Map<string, Table> {
  const files = readdirSync(path.join(root, "src"), { recursive: true, encoding: "utf8" });
  const tables = new Map<string, Table>();
  for (const file of files.filter((name) => /\.(h|cpp)$/.test(name))) {
    const text = readFileSync(path.join(root, "src", file), "utf8");
    for (const [, struct = "", rows = ""] of text.matchAll(
      /^constexpr auto fields_of\(const (?:\w+::)*(\w+)\*\) \{\n([\s\S]*?)^\}/gm,
    )) {
      const names = [...rows.matchAll(/\b(?:field|choice)\("(\w+)"/g)].map(([, name = ""]) => name);
      const definition = new RegExp(String.raw`^struct ${struct} \{[\s\S]*?^\};`, "m").exec(text)?.[0] ?? "";
      const inlined = [...rows.matchAll(/\binlined\(&\w+::(\w+)\)/g)].map(
        ([, member = ""]) => new RegExp(String.raw`(\w+) ${member}\b`).exec(definition)?.[1] ?? member,
      );
      tables.set(struct, { names, inlined });
    }
  }
  return tables;
}

const interfaces = readInterfaces();
const tables = readTables();

function interfaceProperties(name: string): string[] {
  const { inherited, properties } = interfaces.get(name) ?? { inherited: undefined, properties: [] };
  return [...(inherited === undefined ? [] : interfaceProperties(inherited)), ...properties];
}

function tableRows(struct: string): string[] {
  const { names, inlined } = tables.get(struct) ?? { names: [], inlined: [] };
  return [...names, ...inlined.flatMap(tableRows)];
}

test.each(Object.entries(structs))("%s has the properties that the rows of %s name", (name, struct) => {
  const added = name.endsWith("Event") ? addedToEvents : [];
  const declared = interfaceProperties(name).filter((property) => !added.includes(property));
  expect(declared).not.toEqual([]);
  expect(tableRows(struct).toSorted()).toEqual(declared.toSorted());
});

test("every interface and every table is compared", () => {
  expect([...interfaces.keys()].toSorted()).toEqual([...Object.keys(structs), ...withoutRows].toSorted());
  expect([...tables.keys()].toSorted()).toEqual([...Object.values(structs), ...parts].toSorted());
});

test("every function of the addon is exported and declared, and no other", () => {
  const addon: unknown = createRequire(import.meta.url)(findAddon(root));
  const names = Object.keys(addon as object).toSorted();
  expect(names).toContain("loadModel");
  const declared = seam.flatMap((text) =>
    [...text.matchAll(/^export function (\w+)/gm)].map(([, name]) => name ?? ""),
  );
  expect(declared.toSorted()).toEqual(names);
  expect(Object.keys(exported).toSorted()).toEqual(names);
});
