// Imports chats from files, one conversation after another, with its progress and its report as a signal.
import { signal } from "@preact/signals";

import { withNewIds } from "../conversations/chat-archive.ts";
import { putFolder, putPresets } from "../conversations/chat-changes.ts";
import { addToList, chatStorage, folders, presets } from "../conversations/chat-store.ts";
import type { WholeConversation } from "../conversations/chat-storage.ts";
import type { ArchivedChat, StoredFile } from "../conversations/conversation.ts";
import { parseDataUrl } from "../conversations/app-storage.ts";
import { showToast } from "../design/toast.tsx";
import { bytesText } from "../format/localized.ts";
import { LeftOutCounter } from "../imports/imported-chat.ts";
import type { ExportSource, ReadExport } from "../imports/read-export.ts";
import { importText } from "../strings/imports.ts";

/** What became of an import, for the user. */
export interface ImportReport {
  imported: number;
  /** How many the files have. */
  all: number;
  isStopped: boolean;
  /** Null: of several programs. */
  source: ExportSource | null;
  /** Conversations without messages, and damaged ones. */
  unreadable: number;
  leftOut: LeftOutCounter;
  /** Sentences about files that were not imported. */
  problems: string[];
}

type ImportState =
  | { kind: "reading"; stop: () => void }
  | { kind: "adding"; done: number; all: number; stop: () => void }
  | { kind: "report"; report: ImportReport };

/** Null while there is nothing to show. */
export const importState = signal<ImportState | null>(null);

/** What is stored in one request: each one waits for the disk. The progress moves by as many. */
const conversationsAtOnce = 10;
const messagesAtOnce = 400;

/** Adds the chats, folders and presets of exported files. What was left out is reported. */
export async function importFiles(files: readonly File[]): Promise<void> {
  const first = files[0];
  if (first === undefined || importState.value !== null) return;
  const run = new ImportRun(files.length);
  importState.value = { kind: "reading", stop: run.stop };
  try {
    for (const file of files) if (!run.report.isStopped) await run.add(file);
  } catch (error) {
    // What has been imported stays.
    importState.value = null;
    throw error;
  }
  finish(run.report);
}

function finish(report: ImportReport): void {
  const { imported, isStopped, unreadable, leftOut, problems } = report;
  const isClean =
    !isStopped && unreadable === 0 && problems.length === 0 && Object.keys(leftOut.counts).length === 0;
  const onlyProblem = imported === 0 && unreadable === 0 && problems.length === 1 ? problems[0] : undefined;
  importState.value = isClean || onlyProblem !== undefined ? null : { kind: "report", report };
  if (onlyProblem !== undefined) showToast({ text: onlyProblem, tone: "bad" });
  else if (isClean) showToast({ text: importText.imported(imported), tone: "good" });
}

class ImportRun {
  readonly report: ImportReport = {
    imported: 0,
    all: 0,
    isStopped: false,
    source: null,
    unreadable: 0,
    leftOut: new LeftOutCounter(),
    problems: [],
  };
  /** Files that were not read yet: each has at least one conversation. */
  #filesLeft: number;
  readonly #isOnly: boolean;
  readonly #sources = new Set<ExportSource>();

  constructor(files: number) {
    this.#filesLeft = files;
    this.#isOnly = files === 1;
  }

  /** Ends the import after the conversation that is being added. */
  readonly stop = (): void => {
    this.report.isStopped = true;
  };

  async add(file: File): Promise<void> {
    const read = await this.#read(file);
    this.#filesLeft -= 1;
    if (read === undefined) return;
    const { report } = this;
    report.all += read.count;
    this.#sources.add(read.source);
    report.source = this.#sources.size === 1 ? read.source : null;
    const storage = await chatStorage();
    await addOthers(read);
    let waiting: WholeConversation[] = [];
    let messages = 0;
    const store = async () => {
      await storage.addConversations(waiting);
      addToList(waiting.map(({ conversation }) => conversation));
      report.imported += waiting.length;
      waiting = [];
      messages = 0;
    };
    this.#showProgress();
    for (const chat of read.chats()) {
      if (report.isStopped) break;
      if (chat === undefined) report.unreadable += 1;
      else {
        waiting.push(toWholeConversation(withNewIds(chat)));
        messages += chat.messages.length;
      }
      if (waiting.length < conversationsAtOnce && messages < messagesAtOnce) continue;
      await store();
      this.#showProgress();
    }
    if (!report.isStopped) await store();
    report.leftOut.addAll(read.leftOut());
  }

  async #read(file: File): Promise<ReadExport | undefined> {
    const { importBytesMax, readExport } = await import("../imports/read-export.ts");
    const { problems } = this.report;
    if (file.size > importBytesMax) {
      problems.push(importText.tooLarge(file.name, bytesText(importBytesMax)));
      return undefined;
    }
    const read = readExport(await file.text(), Date.now());
    if (read === undefined)
      problems.push(this.#isOnly ? importText.failed : importText.fileFailed(file.name));
    return read;
  }

  #showProgress(): void {
    const { imported, unreadable, all } = this.report;
    const { stop } = this;
    importState.value = { kind: "adding", done: imported + unreadable, all: all + this.#filesLeft, stop };
  }
}

async function addOthers(read: ReadExport): Promise<void> {
  for (const folder of omitKnown(read.folders, folders.value)) await putFolder(folder);
  // An imported preset does not become the default.
  const added = omitKnown(read.presets, presets.value);
  await putPresets(added.map((preset) => ({ ...preset, isDefault: false })));
}

function omitKnown<Kept extends { id: string }>(read: readonly Kept[], known: readonly Kept[]): Kept[] {
  const ids = new Set(known.map(({ id }) => id));
  return read.filter(({ id }) => !ids.has(id));
}

function toWholeConversation({ conversation, messages, images }: ArchivedChat): WholeConversation {
  const files = Object.entries(images).flatMap(([id, url]): StoredFile[] => {
    const data = parseDataUrl(url);
    return data?.type.startsWith("image/") !== true ? [] : [{ id, conversationId: conversation.id, data }];
  });
  return { conversation, messages, files };
}
