// Downloads one model and exits: the process that download-kill.test.ts kills. Uses the build.
import { fetchModel } from "../dist/library/fetch-model.js";
import { locateModel } from "../dist/library/locate.js";

process.stdout.write("started\n");
const located = await locateModel(process.argv[2]);
process.stdout.write(`${await fetchModel(located)}\n`);
