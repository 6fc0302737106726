CREATE INDEX "group_invites_role" ON "group_invites" USING btree ("role_uid","uid");--> statement-breakpoint
CREATE INDEX "group_invites_parent_role" ON "group_invites" USING btree ("parent","role_uid","uid");--> statement-breakpoint
CREATE INDEX "role_bindings_parent_role" ON "role_bindings" USING btree ("parent","role_uid","uid");