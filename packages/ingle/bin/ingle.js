#!/usr/bin/env node
// The `ingle` command of @ingle/server, bundled into this package.
import { start } from "../dist/start.js";

void start("ingle"); // no top-level await: an old Node could not parse the file
