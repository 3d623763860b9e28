// The models of a repository on the hub: their sizes, whether they fit this machine, and download buttons.
import type { OfferedModel, OfferedRepository } from "@ingle/protocol";
import { useEffect } from "preact/hooks";

import { useAttempt } from "../connection/attempt.ts";
import { canManage, client } from "../connection/client.ts";
import { live, models } from "../connection/connection.ts";
import { Badge } from "../design/badge.tsx";
import { Button } from "../design/button.tsx";
import { bytesText, countText } from "../format/in-language.ts";
import { machine } from "../machine/machine-state.ts";
import { strings } from "../strings/strings.ts";
import { fitOfOffer, recommendedOf } from "./fit.ts";
import { FitLight } from "./fit-light.tsx";
import { openRepository, repositories } from "./hub-search.ts";
import { isOpen as isOpenJob } from "./job-view.ts";

export function RepositoryDetails({ repo }: { repo: string }) {
  useEffect(() => void openRepository(repo), [repo]);
  const state = repositories.value.get(repo);
  if (state?.kind === "answered") return <Offers offered={state.answer} />;
  return (
    <div class="repository-body">
      {state?.kind === "failed" ? (
        <HubUnreachable message={state.message} onRetry={() => void openRepository(repo)} />
      ) : (
        <p class="row soft" role="status">
          <span class="spinner" aria-hidden="true" />
          {strings.value.app.loading}
        </p>
      )}
    </div>
  );
}

function Offers({ offered }: { offered: OfferedRepository }) {
  const text = strings.value.library;
  const recommended = machine.value === null ? null : recommendedOf(offered.models, machine.value);
  return (
    <div class="repository-body">
      <Facts offered={offered} />
      {offered.gated && <p class="small gated-text">{text.gatedText}</p>}
      <ul class="offers" aria-label={text.levels(offered.repo)}>
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

function Facts({ offered }: { offered: OfferedRepository }) {
  const text = strings.value.library;
  const { context_length: context } = offered;
  return (
    <>
      <dl class="facts small">
        <div>
          <dt>{text.architecture}</dt>
          <dd>{offered.architecture}</dd>
        </div>
        <div>
          <dt>{text.trainedContext}</dt>
          <dd>{context === null ? text.unknown : text.tokens(countText(context))}</dd>
        </div>
        <div>
          <dt>{text.license}</dt>
          <dd>{offered.license ?? text.unknown}</dd>
        </div>
        {offered.models.every((model) => model.projector) && (
          <div>
            <dt class="visually-hidden">{text.capability.vision}</dt>
            <dd>{text.withProjector}</dd>
          </div>
        )}
      </dl>
      {offered.embeddings && <p class="small soft">{text.embeddingsOnly}</p>}
    </>
  );
}

interface OfferProps {
  model: OfferedModel;
  siblings: readonly OfferedModel[];
  isRecommended: boolean;
}

function Offer({ model, siblings, isRecommended }: OfferProps) {
  const text = strings.value.library;
  return (
    <li class="offer">
      <span class="offer-level">
        <b>{model.quantization ?? model.id.split(":").at(-1)}</b>
        {isRecommended && <Badge tone="accent">{text.recommended}</Badge>}
        {model.projector && !siblings.every((sibling) => sibling.projector) && (
          <Badge>{text.withProjector}</Badge>
        )}
      </span>
      <span class="offer-size figures">{bytesText(model.size_bytes)}</span>
      <span class="offer-fit">
        {machine.value !== null && <FitLight fit={fitOfOffer(model, siblings, machine.value)} />}
      </span>
      <span class="offer-action">
        <GetButton model={model} isRecommended={isRecommended} />
      </span>
    </li>
  );
}

function GetButton({ model, isRecommended }: { model: OfferedModel; isRecommended: boolean }) {
  const text = strings.value.library;
  const [isBusy, attempt] = useAttempt();
  if (models.value.some(({ id }) => id === model.id)) return <Badge tone="good">{text.installed}</Badge>;
  const job = live.value?.jobs.find((each) => each.model === model.id && isOpenJob(each));
  if (job !== undefined) return <Badge tone="accent">{text.jobStatus[job.status]}</Badge>;
  return (
    <Button
      size="small"
      icon="download"
      kind={isRecommended ? "primary" : "plain"}
      aria-label={text.getModel(model.id)}
      disabled={!canManage.value}
      isBusy={isBusy}
      onClick={() => void attempt(() => client.jobs.start({ kind: "pull", model: model.id }))}
    >
      {text.get}
    </Button>
  );
}

/** Reports that the hub is unreachable; `message` is the server's error message. */
export function HubUnreachable({ message, onRetry }: { message: string; onRetry: () => void }) {
  const text = strings.value.library;
  return (
    <div class="card stack unreachable" role="alert">
      <h3>{text.hubUnreachableTitle}</h3>
      <p class="soft">{message}</p>
      <p class="small soft">{text.hubUnreachableText}</p>
      <div>
        <Button icon="retry" onClick={onRetry}>
          {strings.value.app.retry}
        </Button>
      </div>
    </div>
  );
}
