// The import of chats while it runs, and what it left out.
import { Dialog } from "../design/dialog.tsx";
import { Progress } from "../design/indicators.tsx";
import { leftOutKinds } from "../imports/imported-chat.ts";
import { appText } from "../strings/app.ts";
import { importText } from "../strings/imports.ts";
import { type ImportReport, importState } from "./import-chats.ts";

import "./chat-dialogs.css";

export function ImportDialog() {
  const state = importState.value;
  if (state === null) return null;
  if (state.kind === "report") return <ReportDialog report={state.report} />;
  const { stop } = state;
  const label = state.kind === "reading" ? importText.reading : importText.progress(state.done, state.all);
  return (
    <Dialog
      title={importText.title}
      onClose={stop}
      action={{ label: importText.stop, onAction: stop, isLast: true }}
    >
      <p role="status" class="figures">
        {label}
      </p>
      <Progress label={importText.title} value={state.kind === "reading" ? null : state.done / state.all} />
    </Dialog>
  );
}

function ReportDialog({ report }: { report: ImportReport }) {
  const close = () => (importState.value = null);
  const { imported, all, isStopped, source, unreadable, leftOut, problems } = report;
  const found = leftOutKinds.flatMap((kind) => {
    const count = leftOut.counts[kind];
    return count === undefined ? [] : [importText.leftOut[kind](count)];
  });
  const whole = source === null ? importText.imported(imported) : importText.importedFrom(imported, source);
  return (
    <Dialog
      title={importText.title}
      onClose={close}
      action={{ label: appText.close, onAction: close, isLast: true }}
    >
      <p>{isStopped ? importText.stopped(imported, all) : whole}</p>
      {unreadable > 0 && <p>{importText.unreadable(unreadable)}</p>}
      {problems.map((problem) => (
        <p key={problem}>{problem}</p>
      ))}
      {found.length > 0 && (
        <>
          <p>{importText.leftOutTitle}</p>
          <ul class="left-out">
            {found.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}
