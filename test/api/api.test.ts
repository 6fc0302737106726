// Every case over REST on SQLite. api.full.ts has the other ways, and PostgreSQL.
import { testCasesAt } from "./ways.ts";

testCasesAt([{ name: "SQLite", database: "sqlite", apiClients: ["rest"] }]);
