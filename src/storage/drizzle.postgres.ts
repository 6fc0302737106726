import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "postgresql",
  casing: "snake_case",
  schema: "./src/storage/tables.postgres.ts",
  out: "./src/storage/migrations/postgres",
});
