#!/usr/bin/env node
// The `ingle` command.
import { start } from "./start.js";

void start("ingle"); // no top-level await: an old Node would not read the file at all
