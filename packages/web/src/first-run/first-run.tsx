// The first run, on a machine without models: one click downloads the recommended model, the next starts a chat.
import type { RecommendedModel } from "@ingle/protocol";
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

import { linkTo } from "../router.ts";
import { canManage, client, link, live } from "../connection/connection.ts";
import { Failure } from "../design/failure.tsx";
import { Button } from "../design/button.tsx";
import { EmptyState } from "../design/empty-state.tsx";
import { Progress } from "../design/indicators.tsx";
import { useAttempt } from "../design/toast.tsx";
import { bytesText } from "../format/localized.ts";
import { queryHub, type HubRequest } from "../library/hub-search.ts";
import { jobView } from "../library/job-view.ts";
import { JobActions, JobFigures } from "../library/jobs-panel.tsx";
import { appText } from "../strings/app.ts";
import { firstRunText } from "../strings/pages.ts";
import { firstRunStep, type FirstRunStep } from "./first-run-flow.ts";

import "./first-run.css";

/** Asked once per page load. */
const recommendation = signal<HubRequest<RecommendedModel> | null>(null);

async function askRecommended(): Promise<void> {
  recommendation.value = { kind: "asking" };
  recommendation.value = await queryHub(() => client.library.recommended());
}

interface FirstRunProps {
  /** The user wants to chat with the downloaded model. */
  onChat: (model: string) => void;
}

export function FirstRun({ onChat }: FirstRunProps) {
  const isOpen = link.value === "open";
  useEffect(() => {
    if (isOpen && canManage.value && recommendation.value === null) void askRecommended();
  }, [isOpen, canManage.value]);
  return (
    <EmptyState icon="app" title={firstRunText.title} text={firstRunText.text}>
      <div class="stack first-run">
        {canManage.value ? <Recommended onChat={onChat} /> : <p>{appText.inferenceOnly}</p>}
      </div>
    </EmptyState>
  );
}

function Recommended({ onChat }: FirstRunProps) {
  const state = recommendation.value;
  if (state === null || state.kind === "asking") {
    return (
      <p class="row soft first-run-wait" role="status">
        <span class="spinner" aria-hidden="true" />
        {firstRunText.looking}
      </p>
    );
  }
  return (
    <>
      {state.kind === "answered" ? (
        <Offer recommended={state.answer} onChat={onChat} />
      ) : (
        <div class="card stack" role="alert">
          <p>{firstRunText.unreachable}</p>
          <p class="small soft">{state.message}</p>
          <Button icon="retry" onClick={() => void askRecommended()}>
            {appText.retry}
          </Button>
        </div>
      )}
      <p class="small">
        <a href={linkTo("library", "hub")}>{firstRunText.others}</a>
        {" · "}
        <a href={linkTo("library", "import")}>{firstRunText.import}</a>
      </p>
    </>
  );
}

function Offer({ recommended, onChat }: FirstRunProps & { recommended: RecommendedModel }) {
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
    recommended.size_bytes === null ? "" : firstRunText.size(bytesText(recommended.size_bytes)),
    recommended.license === null ? "" : firstRunText.license(recommended.license),
  ];
  return (
    <section class="card stack first-run-card" aria-label={recommended.model}>
      <h3 class="first-run-name">{recommended.model}</h3>
      <p class="small soft">{facts.filter((fact) => fact !== "").join(" · ")}</p>
      <p class="small">
        {firstRunText.why[recommended.reason]} {firstRunText.hub[recommended.hub]}
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
  switch (step.kind) {
    case "offered":
      return (
        <Button kind="primary" icon="download" aria-label={appText.downloadModel(model)} onClick={onGet}>
          {appText.download}
        </Button>
      );
    case "ready":
      return (
        <>
          <Button kind="primary" icon="chat" onClick={() => onChat(step.model)}>
            {firstRunText.chatNow}
          </Button>
          <p class="small soft">{firstRunText.chatHint}</p>
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
  const view = step.job === null ? null : jobView(step.job);
  const notes = {
    downloading: firstRunText.preparing,
    paused: firstRunText.paused,
    failed: firstRunText.failed,
  };
  return (
    <div class="stack" role="status">
      {step.kind !== "failed" && <Progress label={model} value={view?.fraction ?? null} />}
      {(view === null || step.kind !== "downloading") && <p class="small">{notes[step.kind]}</p>}
      {view !== null && (
        <div class="first-run-job">
          {view.job.error === null ? (
            <JobFigures view={view} />
          ) : (
            <Failure class="small first-run-error" of={view.job} />
          )}
          <span>
            <JobActions view={view} title={model} />
          </span>
        </div>
      )}
    </div>
  );
}
