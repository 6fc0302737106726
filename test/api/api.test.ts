// Every case over gRPC and REST on SQLite, and over REST on PostgreSQL. api.full.ts has the other ways.
import { testCasesAt } from "./ways.ts";

testCasesAt([
  { name: "SQLite", database: "sqlite", apiClients: ["grpc", "rest"] },
  { name: "PostgreSQL", database: "postgres", apiClients: ["rest"] },
]);
