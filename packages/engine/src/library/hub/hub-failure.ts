// Turns failed requests to the hub into errors that say what to do, and decides which are temporary.
import { errorCode, EngineError } from "../../base/errors.ts";
import type { HttpResponse } from "../response.ts";
import { certificateProblem, isLaterStatus, parseRetryAfter, TemporaryFailure } from "../retry.ts";

/** A request, as error messages describe it. */
export interface HubRequestInfo {
  endpoint: string;
  /** A repository (`org/repo`), or a search. */
  wanted: string;
  /** Whether a token was sent. */
  hasToken: boolean;
  /** Whether it is for bytes of a file, which a later download continues. */
  isDownload?: boolean;
}

/** The error for a failed connection: temporary, except for a certificate. Other errors are returned unchanged. */
export function hubFailure(error: unknown, question: HubRequestInfo): unknown {
  if (!(error instanceof Error) || error instanceof EngineError || error instanceof TemporaryFailure)
    return error;
  const code = errorCode(error);
  if (code === undefined) return error;
  const { endpoint, wanted, isDownload = false } = question;
  const options = { cause: error, details: { endpoint, wanted, reason: code } };
  if (certificateProblem(code)) {
    const advice = "If your network has its own certificate, set NODE_EXTRA_CA_CERTS to its file.";
    return new EngineError(
      "download_failed",
      `The certificate of ${endpoint} is not trusted (${code}). ${advice}`,
      options,
    );
  }
  const advice = `Check the network, and HTTPS_PROXY and HF_ENDPOINT if you use them.${
    isDownload ? " The download continues where it stopped." : ""
  }`;
  const message = `${endpoint} could not be reached for ${wanted} (${code}). ${advice}`;
  return new TemporaryFailure(new EngineError("download_failed", message, options));
}

/** The error for an unsuccessful response. */
export function responseError(
  response: Pick<HttpResponse, "status" | "header">,
  question: HubRequestInfo,
): EngineError | TemporaryFailure {
  const { status } = response;
  const { endpoint, wanted } = question;
  const details = { endpoint, wanted, status };
  if (isLaterStatus(status)) {
    const message = `${endpoint} responds with ${status} for ${wanted}. Try again later.`;
    const final = new EngineError("download_failed", message, { details });
    return new TemporaryFailure(final, parseRetryAfter(response.header("retry-after")));
  }
  const reason = response.header("x-error-code");
  if (status === 404 || reason === "RepoNotFound" || reason === "EntryNotFound") {
    return new EngineError("model_not_found", notFound(question), { details });
  }
  if (status === 401 || status === 403) {
    const message = status === 403 || reason === "GatedRepo" ? gated(question) : unauthorized(question);
    return new EngineError("download_failed", message, { details });
  }
  return new EngineError("download_failed", `${endpoint} responds with ${status} for ${wanted}.`, {
    details,
  });
}

function notFound({ endpoint, wanted, hasToken }: HubRequestInfo): string {
  const unseen = hasToken
    ? "or your HF_TOKEN has no access to it"
    : "or it is private and needs an HF_TOKEN with access to it";
  return `${endpoint} has no ${wanted}, ${unseen}. Find models with \`ingle search\`.`;
}

function unauthorized({ endpoint, wanted, hasToken }: HubRequestInfo): string {
  const advice = hasToken
    ? "Your HF_TOKEN was not accepted: create a new one"
    : "Set HF_TOKEN to a token with access to it; create one";
  return `${endpoint} requires a login for ${wanted} (401). ${advice} at ${endpoint}/settings/tokens.`;
}

function gated({ endpoint, wanted, hasToken }: HubRequestInfo): string {
  const page = `${endpoint}/${wanted}`;
  const token = hasToken
    ? "with the account of your HF_TOKEN"
    : "and set HF_TOKEN to a token of that account";
  return `${wanted} requires accepting its terms. Open ${page}, accept them ${token}, and start again.`;
}
