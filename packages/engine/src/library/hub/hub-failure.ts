// Turns what goes wrong between us and the hub into sentences that say what to do, and decides what may pass by itself.
// Used by everything in this folder.
import { EngineError } from "../../errors.ts";
import { certificateProblem, isLaterStatus, parseRetryAfter, TemporaryFailure } from "../retry.ts";

/** What was asked of whom, for the sentence. */
export interface HubQuestion {
  endpoint: string;
  /** A repository (`org/repo`), or a search. */
  wanted: string;
  /** Whether a token was sent along. */
  hasToken: boolean;
}

/** The parts of an answer that say what is wrong. */
export interface RefusedAnswer {
  status: number;
  header: (name: string) => string | undefined;
}

/** The error for a connection that failed: temporary, except for a certificate. A mistake of ours comes back unchanged. */
export function hubFailure(error: unknown, question: HubQuestion): unknown {
  if (!(error instanceof Error) || error instanceof EngineError || error instanceof TemporaryFailure)
    return error;
  const code: unknown = Reflect.get(error, "code");
  if (typeof code !== "string") return error;
  const { endpoint, wanted } = question;
  const options = { cause: error, details: { endpoint, wanted, reason: code } };
  if (certificateProblem(code)) {
    const advice = "If your network has a certificate of its own, name its file in NODE_EXTRA_CA_CERTS.";
    return new EngineError(
      "download_failed",
      `The certificate of ${endpoint} is not trusted (${code}). ${advice}`,
      options,
    );
  }
  const advice =
    "Check the network, and HTTPS_PROXY and HF_ENDPOINT if you use them. A download goes on where it stopped.";
  const message = `${endpoint} could not be reached for ${wanted} (${code}). ${advice}`;
  return new TemporaryFailure(new EngineError("download_failed", message, options));
}

/** The error for an answer that is none of those that were hoped for. */
export function refusal(answer: RefusedAnswer, question: HubQuestion): EngineError | TemporaryFailure {
  const { status } = answer;
  const { endpoint, wanted } = question;
  const details = { endpoint, wanted, status };
  if (isLaterStatus(status)) {
    const message = `${endpoint} answers ${status} for ${wanted}. Try again later.`;
    const final = new EngineError("download_failed", message, { details });
    return new TemporaryFailure(final, parseRetryAfter(answer.header("retry-after")));
  }
  const reason = answer.header("x-error-code");
  if (status === 404 || reason === "RepoNotFound" || reason === "EntryNotFound") {
    return new EngineError("model_not_found", notFound(question), { details });
  }
  if (status === 401 || status === 403) {
    const message = status === 403 || reason === "GatedRepo" ? gated(question) : unauthorized(question);
    return new EngineError("download_failed", message, { details });
  }
  return new EngineError("download_failed", `${endpoint} answers ${status} for ${wanted}.`, { details });
}

function notFound({ endpoint, wanted, hasToken }: HubQuestion): string {
  const unseen = hasToken
    ? "or your HF_TOKEN may not see it"
    : "or it is private, and then HF_TOKEN must name a token that may read it";
  return `${endpoint} has no ${wanted}, ${unseen}. \`ingle search\` finds what is there.`;
}

function unauthorized({ endpoint, wanted, hasToken }: HubQuestion): string {
  const advice = hasToken
    ? "Your HF_TOKEN is not accepted: make a new one"
    : "Set HF_TOKEN to a token that may read it; make one";
  return `${endpoint} does not give out ${wanted} without a sign-in (401). ${advice} at ${endpoint}/settings/tokens.`;
}

function gated({ endpoint, wanted, hasToken }: HubQuestion): string {
  const page = `${endpoint}/${wanted}`;
  const token = hasToken
    ? "with the account of your HF_TOKEN"
    : "and set HF_TOKEN to a token of that account";
  return `${wanted} is given out only to those who accepted its terms. Open ${page}, accept them ${token}, and start again.`;
}
