#!/usr/bin/env node
// The `ingle_lm.server` command: serves one model, as the command-line variant.
import { start } from "./start.js";

void start("ingle_lm.server"); // no top-level await: an old Node could not parse the file
