// The server's live log, filtered by level and words.
import type { LogLine } from "@ingle/protocol";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { logLines } from "../connection/connection.ts";
import { CopyButton } from "../design/copy-button.tsx";
import { Select, TextInput } from "../design/field.tsx";
import { timeOfDayText } from "../format/localized.ts";
import { serverText } from "../strings/server.ts";
import { detailsText, logLevels, shownLines, type LogLevel } from "./log-view.ts";

/** Closer to the end than this many pixels counts as being there. */
const nearEnd = 24;

/** Maximum number of lines that are rendered; a filter finds the others. */
const linesMax = 500;

export function LogView() {
  const [level, setLevel] = useState<LogLevel>("info");
  const [words, setWords] = useState("");
  const shown = shownLines(logLines.value, { level, words }).slice(-linesMax);
  return (
    <section class="stack" aria-labelledby="log-heading">
      <div class="log-head">
        <div>
          <h2 id="log-heading">{serverText.log}</h2>
          <p class="small soft">{serverText.logText}</p>
        </div>
        <TextInput
          type="search"
          aria-label={serverText.logFilter}
          placeholder={serverText.logFilter}
          value={words}
          onValue={setWords}
        />
        <Select
          aria-label={serverText.logLevel}
          value={level}
          choices={logLevels.map((value) => ({ value, label: serverText.level[value] }))}
          onValue={setLevel}
        />
        <CopyButton text={() => shown.map(plainLine).join("\n")} label={serverText.copyLog} size="medium" />
      </div>
      {shown.length === 0 ? (
        <p class="soft">{logLines.value.length === 0 ? serverText.noLog : serverText.noLogMatch}</p>
      ) : (
        <Lines lines={shown} />
      )}
    </section>
  );
}

function plainLine(line: LogLine): string {
  return `${new Date(line.time * 1000).toISOString()} ${line.level} ${line.message} ${detailsText(line)}`.trimEnd();
}

/** Keeps the newest line in view, unless the user has scrolled up. */
function Lines({ lines }: { lines: readonly LogLine[] }) {
  const frame = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    if (follows.current) frame.current?.scrollTo({ top: frame.current.scrollHeight });
  }, [lines.at(-1)?.number, lines.length]);
  const onScroll = () => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = frame.current ?? {};
    follows.current = scrollHeight - scrollTop - clientHeight < nearEnd;
  };
  return (
    // Focusable, so that the keyboard can scroll it.
    <div
      ref={frame}
      class="log"
      role="log"
      aria-live="off"
      aria-label={serverText.log}
      tabIndex={0}
      onScroll={onScroll}
    >
      {lines.map((line) => (
        <div key={line.number} class={`log-line ${line.level}`}>
          <time>{timeOfDayText(line.time)}</time>
          <span class="log-level">{serverText.levelName[line.level]}</span>
          <span class="log-text">
            {line.message} <span class="soft">{detailsText(line)}</span>
          </span>
        </div>
      ))}
    </div>
  );
}
