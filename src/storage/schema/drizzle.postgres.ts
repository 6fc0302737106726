import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "postgresql",
  casing: "snake_case",
  schema: "./src/storage/schema/tables.postgres.ts",
  out: "./src/storage/schema/migrations/postgres",
});
