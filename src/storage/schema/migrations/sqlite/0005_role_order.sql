CREATE INDEX `group_invites_role` ON `group_invites` (`role_uid`,`uid`);--> statement-breakpoint
CREATE INDEX `group_invites_parent_role` ON `group_invites` (`parent`,`role_uid`,`uid`);--> statement-breakpoint
CREATE INDEX `role_bindings_parent_role` ON `role_bindings` (`parent`,`role_uid`,`uid`);