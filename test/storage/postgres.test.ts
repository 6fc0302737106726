import { after } from "node:test";
import { stopPostgres } from "../harness/postgres.ts";
import { conformance } from "./conformance.ts";
import { openPostgresStore } from "./stores.ts";

// Outside of any suite: it runs when all files of the process are through.
after(stopPostgres);

conformance("PostgreSQL", openPostgresStore);
