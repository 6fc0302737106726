ALTER TABLE `role_bindings` ADD `start_time` integer;--> statement-breakpoint
ALTER TABLE `role_bindings` ADD `expire_time` integer;--> statement-breakpoint
CREATE INDEX `role_bindings_expire` ON `role_bindings` (`expire_time`) WHERE `expire_time` IS NOT NULL;