// The first run, on a machine without models: one click downloads the recommended model, the next starts a chat.
import type { RecommendedModel } from "@ingle/protocol";
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

import { linkTo } from "../app/router.ts";
import { useAttempt } from "../connection/attempt.ts";
import { canManage, client } from "../connection/client.ts";
import { link, live } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { EmptyState } from "../design/empty-state.tsx";
import { Progress } from "../design/progress.tsx";
import { bytesText } from "../format/in-language.ts";
import { jobView } from "../library/job-view.ts";
import { JobActions, JobFigures } from "../library/jobs-panel.tsx";
import { reasonOf } from "../strings/error-message.ts";
import { strings } from "../strings/strings.ts";
import { firstRunStep, type FirstRunStep } from "./first-run-flow.ts";

import "./first-run.css";

type Recommendation =
  | { kind: "asking" }
  | { kind: "known"; recommended: RecommendedModel }
  | { kind: "failed"; message: string };

/** Asked once per page load. */
const recommendation = signal<Recommendation | null>(null);

async function askRecommended(): Promise<void> {
  recommendation.value = { kind: "asking" };
  try {
    recommendation.value = { kind: "known", recommended: await client.library.recommended() };
  } catch (error) {
    recommendation.value = { kind: "failed", message: reasonOf(error) };
  }
}

interface FirstRunProps {
  /** The user wants to chat with the downloaded model. */
  onChat: (model: string) => void;
}

export function FirstRun({ onChat }: FirstRunProps) {
  const text = strings.value.firstRun;
  const isOpen = link.value === "open";
  useEffect(() => {
    if (isOpen && canManage.value && recommendation.value === null) void askRecommended();
  }, [isOpen, canManage.value]);
  return (
    <EmptyState icon="app" title={text.title} text={text.text}>
      <div class="first-run">
        {canManage.value ? <Recommended onChat={onChat} /> : <p>{strings.value.app.inferenceOnly}</p>}
      </div>
    </EmptyState>
  );
}

function Recommended({ onChat }: FirstRunProps) {
  const text = strings.value.firstRun;
  const state = recommendation.value;
  if (state === null || state.kind === "asking") {
    return (
      <p class="row soft first-run-wait" role="status">
        <span class="spinner" aria-hidden="true" />
        {text.looking}
      </p>
    );
  }
  return (
    <>
      {state.kind === "known" ? (
        <Offer recommended={state.recommended} onChat={onChat} />
      ) : (
        <div class="card stack" role="alert">
          <p>{text.unreachable}</p>
          <p class="small soft">{state.message}</p>
          <Button icon="retry" onClick={() => void askRecommended()}>
            {strings.value.app.retry}
          </Button>
        </div>
      )}
      <p class="small">
        <a href={linkTo("library", "hub")}>{text.others}</a>
      </p>
    </>
  );
}

function Offer({ recommended, onChat }: FirstRunProps & { recommended: RecommendedModel }) {
  const text = strings.value.firstRun;
  const [isRequested, setRequested] = useState(false);
  const [, attempt] = useAttempt();
  const step = firstRunStep(recommended, {
    models: live.value?.models ?? [],
    jobs: live.value?.jobs ?? [],
    isRequested,
  });
  const get = async () => {
    setRequested(true);
    await attempt(() => client.jobs.start({ kind: "pull", model: recommended.model }));
    setRequested(false);
  };
  const facts = [
    recommended.size_bytes === null ? "" : text.size(bytesText(recommended.size_bytes)),
    recommended.license === null ? "" : text.license(recommended.license),
  ];
  return (
    <section class="card stack first-run-card" aria-label={recommended.model}>
      <h3 class="first-run-name">{recommended.model}</h3>
      <p class="small soft">{facts.filter((fact) => fact !== "").join(" · ")}</p>
      <p class="small">
        {text.why[recommended.reason]} {text.hub[recommended.hub]}
      </p>
      <Step step={step} model={recommended.model} onGet={() => void get()} onChat={onChat} />
    </section>
  );
}

interface StepProps extends FirstRunProps {
  step: FirstRunStep;
  model: string;
  onGet: () => void;
}

function Step({ step, model, onGet, onChat }: StepProps) {
  const text = strings.value.firstRun;
  switch (step.kind) {
    case "offered":
      return (
        <Button kind="primary" icon="download" aria-label={text.getModel(model)} onClick={onGet}>
          {text.get}
        </Button>
      );
    case "ready":
      return (
        <>
          <Button kind="primary" icon="chat" onClick={() => onChat(step.model)}>
            {text.chatNow}
          </Button>
          <p class="small soft">{text.chatHint}</p>
        </>
      );
    case "downloading":
    case "paused":
    case "failed":
      return <Download step={step} model={model} />;
  }
}

function Download({
  step,
  model,
}: {
  step: Extract<FirstRunStep, { kind: "downloading" | "paused" | "failed" }>;
  model: string;
}) {
  const text = strings.value.firstRun;
  const view = step.job === null ? null : jobView(step.job);
  const notes = { downloading: text.preparing, paused: text.paused, failed: text.failed };
  return (
    <div class="stack" role="status">
      {step.kind !== "failed" && <Progress label={model} value={view?.fraction ?? null} />}
      {(view === null || step.kind !== "downloading") && <p class="small">{notes[step.kind]}</p>}
      {view !== null && (
        <div class="first-run-job">
          {view.job.error === null ? (
            <JobFigures view={view} />
          ) : (
            <p class="small first-run-error">{view.job.error}</p>
          )}
          <span>
            <JobActions view={view} title={model} />
          </span>
        </div>
      )}
    </div>
  );
}
