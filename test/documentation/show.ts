// Prints what the commands of a page print, as it would stand there: node test/documentation/show.ts docs/first-steps.md
import { readFileSync } from "node:fs";
import { stopPostgres } from "../harness/postgres.ts";
import { runPage } from "./run-page.ts";
import { shortened } from "./shown-output.ts";

const page = process.argv[2];
if (page === undefined) throw new Error("which page?");
try {
  await runPage(page, readFileSync(page, "utf8"), (command, output, difference) => {
    if (difference !== undefined) console.log(`*** ${difference.slice(0, 300)}`);
    console.log(`$ ${command.trimEnd()}\n${shortened(output).trimEnd().slice(0, 3000)}`);
  });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
}
await stopPostgres();
process.exit();
