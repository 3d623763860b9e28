// The calls of tools in a reply: what the model asks for, the question to the user, and what came back.
import type { ToolCall, ToolStep } from "../conversations/conversation.ts";
import { Button } from "../design/button.tsx";
import { Icon } from "../design/icon.tsx";
import { Badge, type Tone } from "../design/indicators.tsx";
import { embeddedImage } from "../markdown/untrusted-text.ts";
import { Markdown } from "../markdown/markdown.tsx";
import type { CallQuestion, LiveReply } from "../conversations/live-replies.ts";
import { toolsText } from "../strings/tools.ts";
import { shownArguments, shownText } from "../format/shown-text.ts";
import { ThinkingView } from "./thinking-view.tsx";

import "./tool-calls.css";

interface ToolStepsProps {
  steps: readonly ToolStep[];
  /** The reply, if this page is writing it. */
  live: LiveReply | undefined;
}

export function ToolSteps({ steps, live }: ToolStepsProps) {
  return (
    <>
      {steps.map(({ text, thinking, calls }, at) => (
        <div key={at} class="tool-step">
          {thinking !== "" && <ThinkingView thinking={thinking} thinkingMs={null} isOpen={false} />}
          {text !== "" && (
            <div class="reply-text">
              <Markdown text={text} isOpen={false} />
            </div>
          )}
          {calls.map((call) => (
            <ToolCallView key={call.id} call={call} live={live} />
          ))}
        </div>
      ))}
    </>
  );
}

type ShownStatus = ToolCall["status"] | "asking" | "stopped";

const tones: Partial<Record<ShownStatus, Tone>> = {
  asking: "warn",
  running: "accent",
  done: "good",
  failed: "bad",
};

/** Only the page that writes a reply runs its calls: elsewhere, one without a result was stopped. */
function shownStatus({ id, status }: ToolCall, live: LiveReply | undefined): ShownStatus {
  if (status !== "waiting" && status !== "running") return status;
  if (live === undefined) return "stopped";
  return live.question.value?.callId === id ? "asking" : status;
}

function ToolCallView({ call, live }: { call: ToolCall; live: LiveReply | undefined }) {
  const status = shownStatus(call, live);
  const question = live?.question.value ?? null;
  const { place, content } = call;
  const title =
    place === null ? shownText(call.name) : toolsText.call(shownText(place.tool), shownText(place.server));
  return (
    <section class={`boxed tool-call ${status}`} aria-label={title}>
      <header class="tool-call-head">
        <Icon name="tools" size={18} />
        <span class="tool-call-title">{title}</span>
        <Badge tone={tones[status] ?? "plain"}>{toolsText.statuses[status]}</Badge>
      </header>
      <pre class="tool-text" aria-label={toolsText.arguments} tabIndex={0}>
        {shownArguments(call.arguments)}
      </pre>
      {status === "asking" && question !== null && <Question title={title} question={question} />}
      {content.length > 0 && (
        <details class="tool-result">
          <summary>{toolsText.result}</summary>
          {content.map((part, at) => (
            <ResultPart key={at} part={part} />
          ))}
        </details>
      )}
    </section>
  );
}

function Question({ title, question: { answer } }: { title: string; question: CallQuestion }) {
  return (
    <div class="row tool-question" role="group" aria-label={title}>
      <Button kind="primary" size="small" onClick={() => answer("once")}>
        {toolsText.allowOnce}
      </Button>
      <Button size="small" title={toolsText.allowAlwaysHint} onClick={() => answer("always")}>
        {toolsText.allowAlways}
      </Button>
      <Button size="small" onClick={() => answer("no")}>
        {toolsText.refuse}
      </Button>
    </div>
  );
}

function ResultPart({ part }: { part: ToolCall["content"][number] }) {
  if (part.type === "text")
    return (
      <pre class="tool-text" tabIndex={0}>
        {shownText(part.text)}
      </pre>
    );
  const url = embeddedImage(part.image_url.url);
  return url === undefined ? null : <img class="tool-image" src={url} alt={toolsText.resultImage} />;
}
