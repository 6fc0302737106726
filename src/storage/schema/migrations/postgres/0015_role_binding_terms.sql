ALTER TABLE "role_bindings" ADD COLUMN "start_time" bigint;--> statement-breakpoint
ALTER TABLE "role_bindings" ADD COLUMN "expire_time" bigint;--> statement-breakpoint
CREATE INDEX "role_bindings_expire" ON "role_bindings" USING btree ("expire_time") WHERE "expire_time" IS NOT NULL;