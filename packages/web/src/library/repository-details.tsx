// The models of a repository on the hub: their sizes, whether they fit this machine, and download buttons.
import type { OfferedModel, OfferedRepository } from "@ingle/protocol";
import { useEffect } from "preact/hooks";

import { canManage, client, live, machine, models } from "../connection/connection.ts";
import { Badge, Facts, type Fact } from "../design/indicators.tsx";
import { Button } from "../design/button.tsx";
import { useAttempt } from "../design/toast.tsx";
import { bytesText, countText } from "../format/localized.ts";
import { appText } from "../strings/app.ts";
import { libraryText } from "../strings/library.ts";
import { rateOffer, recommendModel } from "./fit.ts";
import { FitLight } from "./fit-light.tsx";
import { openRepository, repositories } from "./hub-search.ts";
import { isOpen as isOpenJob } from "./job-view.ts";

export function RepositoryDetails({ repo }: { repo: string }) {
  useEffect(() => void openRepository(repo), [repo]);
  const state = repositories.value.get(repo);
  if (state?.kind === "answered") return <Offers offered={state.answer} />;
  return (
    <div class="stack repository-body">
      {state?.kind === "failed" ? (
        <HubUnreachable message={state.message} onRetry={() => void openRepository(repo)} />
      ) : (
        <p class="row soft" role="status">
          <span class="spinner" aria-hidden="true" />
          {appText.loading}
        </p>
      )}
    </div>
  );
}

function Offers({ offered }: { offered: OfferedRepository }) {
  const { context_length: context } = offered;
  const facts: Fact[] = [
    [libraryText.architecture, offered.architecture],
    [libraryText.trainedContext, context === null ? libraryText.unknown : appText.tokens(countText(context))],
    [libraryText.license, offered.license ?? libraryText.unknown],
  ];
  const readsImages = offered.models.every((model) => model.projector);
  const recommended = machine.value === null ? null : recommendModel(offered.models, machine.value);
  return (
    <div class="stack repository-body">
      <Facts class="facts small" facts={facts}>
        {readsImages && (
          <div>
            <dt class="visually-hidden">{libraryText.capability.vision}</dt>
            <dd>{libraryText.withProjector}</dd>
          </div>
        )}
      </Facts>
      {offered.embeddings && <p class="small soft">{libraryText.embeddingsOnly}</p>}
      {offered.gated && <p class="small notice warn">{libraryText.gatedText}</p>}
      <ul class="offers" aria-label={libraryText.levels(offered.repo)}>
        {offered.models.map((model) => (
          <Offer
            key={model.id}
            model={model}
            siblings={offered.models}
            isRecommended={model.id === recommended?.id}
          />
        ))}
      </ul>
    </div>
  );
}

interface OfferProps {
  model: OfferedModel;
  siblings: readonly OfferedModel[];
  isRecommended: boolean;
}

function Offer({ model, siblings, isRecommended }: OfferProps) {
  return (
    <li class="offer">
      <span class="offer-level">
        <b>{model.quantization ?? model.id.split(":").at(-1)}</b>
        {isRecommended && <Badge tone="accent">{libraryText.recommended}</Badge>}
        {model.projector && !siblings.every((sibling) => sibling.projector) && (
          <Badge>{libraryText.withProjector}</Badge>
        )}
      </span>
      <span class="offer-size figures">{bytesText(model.size_bytes)}</span>
      <span class="offer-fit">
        {machine.value !== null && <FitLight fit={rateOffer(model, siblings, machine.value)} />}
      </span>
      <span class="offer-action">
        <GetButton model={model} isRecommended={isRecommended} />
      </span>
    </li>
  );
}

function GetButton({ model, isRecommended }: { model: OfferedModel; isRecommended: boolean }) {
  const [isBusy, attempt] = useAttempt();
  if (models.value.some(({ id }) => id === model.id))
    return <Badge tone="good">{libraryText.installed}</Badge>;
  const job = live.value?.jobs.find((each) => each.model === model.id && isOpenJob(each));
  if (job !== undefined) return <Badge tone="accent">{libraryText.jobStatus[job.status]}</Badge>;
  return (
    <Button
      size="small"
      icon="download"
      kind={isRecommended ? "primary" : "plain"}
      aria-label={appText.downloadModel(model.id)}
      disabled={!canManage.value}
      isBusy={isBusy}
      onClick={() => void attempt(() => client.jobs.start({ kind: "pull", model: model.id }))}
    >
      {appText.download}
    </Button>
  );
}

/** Reports that the hub is unreachable; `message` is the server's error message. */
export function HubUnreachable({ message, onRetry }: { message: string; onRetry: () => void }) {
  return (
    <div class="card stack unreachable" role="alert">
      <h3>{libraryText.hubUnreachableTitle}</h3>
      <p class="soft">{message}</p>
      <p class="small soft">{libraryText.hubUnreachableText}</p>
      <div>
        <Button icon="retry" onClick={onRetry}>
          {appText.retry}
        </Button>
      </div>
    </div>
  );
}
