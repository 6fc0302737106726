DROP INDEX "changes_uid";--> statement-breakpoint
DROP INDEX "groups_name";--> statement-breakpoint
CREATE INDEX "changes_access_requests" ON "changes" USING btree ("uid","actor","sequence") WHERE "changes"."kind" = 'group_access_requests';