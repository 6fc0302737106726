// Gatehouse, from its sources, with a commit of its own for every write: what sharing commits is compared with.
import { main } from "../../src/main.ts";
import { defaultDatabaseLimits } from "../../src/storage/engine/dialect.ts";

Object.assign(defaultDatabaseLimits, { maxBatch: 1 });
await main(process.argv.slice(2));
