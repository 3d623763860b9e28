// The program of the threads that body-workers.ts starts: checks one body after the other. Schemas cannot be sent to a thread:
// it finds them by their ids.
import { parentPort } from "node:worker_threads";
import * as protocol from "@ingle/protocol";
import { z } from "zod";
import type { BodyCheck } from "./body-workers.ts";
import { checkBody } from "./check-body.ts";

const schemas = new Map<string, z.ZodType>();
for (const each of Object.values(protocol)) {
  const id = each instanceof z.ZodType ? each.meta()?.id : undefined;
  if (each instanceof z.ZodType && id !== undefined) schemas.set(id, each);
}

parentPort?.on("message", ({ pieces, schemaId }: BodyCheck) => {
  const schema = schemaId === undefined ? undefined : schemas.get(schemaId);
  if (schemaId !== undefined && schema === undefined)
    throw new Error(`The protocol has no schema with the id ${schemaId}.`);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origins, windows have
  parentPort?.postMessage(checkBody(Buffer.concat(pieces), schema));
});
