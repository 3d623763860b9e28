#!/usr/bin/env node
// The `ingle` command of @ingle/server, under the name that `npx ingle` finds.
import { start } from "@ingle/server/bin/start.js";

void start("ingle"); // no top-level await: an old Node could not parse the file
