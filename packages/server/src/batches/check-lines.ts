// Checks the lines of an input: each must be a request with an id of its own. What the endpoint itself refuses is found when the request
// is sent.
import { BatchLine, batchLineBytesMax, type BatchEndpoint, type WireErrorCode } from "@ingle/protocol";
import { checkBody } from "../bodies/check-body.ts";
import type { InputLine } from "./read-lines.ts";

/** A request of a batch. */
export interface RequestLine {
  readonly number: number;
  readonly customId: string;
  readonly url: BatchEndpoint;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Why a line cannot be sent. */
export interface LineProblem {
  readonly number: number;
  /** Null if the line has none. */
  readonly customId: string | null;
  readonly code: WireErrorCode;
  readonly message: string;
  /** The wrong field, or null. */
  readonly param: string | null;
}

export type CheckedLine = { readonly line: RequestLine } | { readonly problem: LineProblem };

interface LineRules {
  /** The only endpoint that lines may name. Default: any of `batchEndpoints`. */
  readonly endpoint?: BatchEndpoint | undefined;
}

/** Remembers the ids of the lines that it has checked. */
export class LineChecker {
  readonly #rules: LineRules;
  /** The number of the line that had an id first. */
  readonly #seen = new Map<string, number>();

  constructor(rules: LineRules = {}) {
    this.#rules = rules;
  }

  check({ number, bytes }: InputLine): CheckedLine {
    const refuse = (problem: Pick<LineProblem, "code" | "message"> & Partial<LineProblem>): CheckedLine => ({
      problem: { customId: null, param: null, ...problem, number },
    });
    if (bytes === undefined) return refuse(tooLong);
    const checked = checkBody(bytes, BatchLine);
    if ("refusal" in checked) {
      const { code, message, param = null } = checked.refusal;
      if (code === "invalid_json") return refuse({ code, message: "This line is not valid JSON." });
      return refuse({ code, message, param, customId: customIdIn(bytes) });
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checkBody has checked it by this schema
    const { custom_id: customId, url, body } = checked.value as BatchLine;
    const earlier = this.#seen.get(customId);
    if (earlier !== undefined) {
      const message = `custom_id must be unique: line ${earlier} has the same one`;
      return refuse({ code: "invalid_request", message, param: "custom_id", customId });
    }
    this.#seen.set(customId, number);
    const problem = this.#contradiction(url, body);
    if (problem !== undefined) return refuse({ code: "invalid_request", customId, ...problem });
    return { line: { number, customId, url, body } };
  }

  #contradiction(
    url: BatchEndpoint,
    body: RequestLine["body"],
  ): Pick<LineProblem, "message" | "param"> | undefined {
    const { endpoint = url } = this.#rules;
    if (url !== endpoint) return { param: "url", message: `url must be ${endpoint}, the batch's endpoint` };
    const whole = ["stream", "background"].find((name) => body[name] === true);
    if (whole === undefined) return undefined;
    return { param: `body.${whole}`, message: `${whole} must not be true: a batch has whole responses` };
  }
}

const tooLong = {
  code: "payload_too_large",
  message: `This line is longer than ${batchLineBytesMax} bytes.`,
} as const;

/** The id of a line that is otherwise wrong, so that its result can be found. */
function customIdIn(bytes: Buffer): string | null {
  const checked = checkBody(bytes, BatchLine.pick({ custom_id: true }));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checkBody has checked it by this schema
  return "refusal" in checked ? null : (checked.value as Pick<BatchLine, "custom_id">).custom_id;
}
