import { conformance } from "./conformance.ts";
import { openSqliteStore } from "./stores.ts";

conformance("SQLite", openSqliteStore);
