// How a browser that the app knows comes back after a restart of the app: it proves that it has the private key whose public key it left
// here. No secret is sent, and a proof is valid once.
import { z } from "zod";

import { requestObject, responseObject } from "../fields/field.ts";

/** 32 bytes in base64url: a coordinate of a point on P-256. */
const coordinate = (name: string) => {
  const rule = `${name} must be 32 bytes in base64url`;
  return z.string(rule).regex(/^[\w-]{43}$/, rule);
};
const idRule = "browser must be an id of a known browser";
const idField = z.string(idRule).regex(/^[\w-]{22}$/, idRule);

/** The body of `POST /api/v1/session/browser`: a public key of ECDSA on P-256, as in a JWK. */
export const BrowserKey = requestObject("BrowserKey", { x: coordinate("x"), y: coordinate("y") });
export type BrowserKey = z.infer<typeof BrowserKey>;

/** The response, and the body of `POST /api/v1/session/forget` and its response. */
export const KnownBrowser = responseObject("KnownBrowser", { browser: idField });
export type KnownBrowser = z.infer<typeof KnownBrowser>;
export const ForgetBrowserRequest = requestObject("ForgetBrowserRequest", { browser: idField });
export type ForgetBrowserRequest = z.infer<typeof ForgetBrowserRequest>;

/** The response of `POST /api/v1/session/challenge`, which has no body. */
export const BrowserChallenge = responseObject("BrowserChallenge", { challenge: z.string() });
export type BrowserChallenge = z.infer<typeof BrowserChallenge>;

/** The body of `POST /api/v1/session/return`; the response is a `Session`. */
export const ReturnRequest = requestObject("ReturnRequest", {
  browser: idField,
  challenge: z.string("challenge must be a string").max(64, "challenge has at most 64 characters"),
  signature: z
    .string("signature must be 64 bytes in base64url")
    .regex(/^[\w-]{86}$/, "signature must be 64 bytes in base64url")
    .describe("ECDSA with SHA-256 over the text of `returnText`, as r and s of 32 bytes each."),
});
export type ReturnRequest = z.infer<typeof ReturnRequest>;

/** What a browser signs: the challenge, for this address only. */
export function returnText(origin: string, challenge: string): string {
  return `Ingle, let this browser return\n${origin}\n${challenge}`;
}
