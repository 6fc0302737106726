// Every case over gRPC and REST on SQLite. api.full.ts has the other ways, and PostgreSQL.
import { testCasesAt } from "./ways.ts";

testCasesAt([{ name: "SQLite", database: "sqlite", apiClients: ["grpc", "rest"] }]);
