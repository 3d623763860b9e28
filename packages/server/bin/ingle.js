#!/usr/bin/env node
// The `ingle` command.
import { start } from "./start.js";

void start("ingle"); // no top-level await: an old Node could not parse the file
