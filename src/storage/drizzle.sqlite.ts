import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  casing: "snake_case",
  schema: "./src/storage/tables.sqlite.ts",
  out: "./src/storage/migrations/sqlite",
});
