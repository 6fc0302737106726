import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  casing: "snake_case",
  schema: "./src/storage/schema/tables.sqlite.ts",
  out: "./src/storage/schema/migrations/sqlite",
});
