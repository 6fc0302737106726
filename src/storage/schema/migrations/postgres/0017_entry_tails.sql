-- Of a uid an entry has what its key does not tell. What the planner knew of the column goes with its old type.
ALTER TABLE "group_entries" ALTER COLUMN "uid" TYPE text COLLATE "C" USING substr("uid", length(rtrim("key", '/*')) + 1);--> statement-breakpoint
ALTER TABLE "group_entries" RENAME COLUMN "uid" TO "tail";--> statement-breakpoint
ALTER TABLE "group_entries" RENAME CONSTRAINT "group_entries_key_name_uid_pk" TO "group_entries_key_name_tail_pk";--> statement-breakpoint
ALTER TABLE "identity_entries" ALTER COLUMN "uid" TYPE text COLLATE "C" USING substr("uid", length(rtrim("key", '/*')) + 1);--> statement-breakpoint
ALTER TABLE "identity_entries" RENAME COLUMN "uid" TO "tail";--> statement-breakpoint
ALTER TABLE "identity_entries" RENAME CONSTRAINT "identity_entries_key_name_uid_pk" TO "identity_entries_key_name_tail_pk";--> statement-breakpoint
ALTER TABLE "role_entries" ALTER COLUMN "uid" TYPE text COLLATE "C" USING substr("uid", length(rtrim("key", '/*')) + 1);--> statement-breakpoint
ALTER TABLE "role_entries" RENAME COLUMN "uid" TO "tail";--> statement-breakpoint
ALTER TABLE "role_entries" RENAME CONSTRAINT "role_entries_key_name_uid_pk" TO "role_entries_key_name_tail_pk";--> statement-breakpoint
ALTER TABLE "role_binding_entries" ALTER COLUMN "uid" TYPE text COLLATE "C" USING substr("uid", length(rtrim("key", '/*')) + 1);--> statement-breakpoint
ALTER TABLE "role_binding_entries" RENAME COLUMN "uid" TO "tail";--> statement-breakpoint
ALTER TABLE "role_binding_entries" RENAME CONSTRAINT "role_binding_entries_key_name_uid_pk" TO "role_binding_entries_key_name_tail_pk";--> statement-breakpoint
ALTER TABLE "group_invite_entries" ALTER COLUMN "uid" TYPE text COLLATE "C" USING substr("uid", length(rtrim("key", '/*')) + 1);--> statement-breakpoint
ALTER TABLE "group_invite_entries" RENAME COLUMN "uid" TO "tail";--> statement-breakpoint
ALTER TABLE "group_invite_entries" RENAME CONSTRAINT "group_invite_entries_key_name_uid_pk" TO "group_invite_entries_key_name_tail_pk";--> statement-breakpoint
ALTER TABLE "account_association_entries" ALTER COLUMN "uid" TYPE text COLLATE "C" USING substr("uid", length(rtrim("key", '/*')) + 1);--> statement-breakpoint
ALTER TABLE "account_association_entries" RENAME COLUMN "uid" TO "tail";--> statement-breakpoint
ALTER TABLE "account_association_entries" RENAME CONSTRAINT "account_association_entries_key_name_uid_pk" TO "account_association_entries_key_name_tail_pk";--> statement-breakpoint
ALTER TABLE "repo_entries" ALTER COLUMN "uid" TYPE text COLLATE "C" USING substr("uid", length(rtrim("key", '/*')) + 1);--> statement-breakpoint
ALTER TABLE "repo_entries" RENAME COLUMN "uid" TO "tail";--> statement-breakpoint
ALTER TABLE "repo_entries" RENAME CONSTRAINT "repo_entries_key_name_uid_pk" TO "repo_entries_key_name_tail_pk";--> statement-breakpoint
ALTER TABLE "tag_entries" ALTER COLUMN "uid" TYPE text COLLATE "C" USING substr("uid", length(rtrim("key", '/*')) + 1);--> statement-breakpoint
ALTER TABLE "tag_entries" RENAME COLUMN "uid" TO "tail";--> statement-breakpoint
ALTER TABLE "tag_entries" RENAME CONSTRAINT "tag_entries_key_name_uid_pk" TO "tag_entries_key_name_tail_pk";--> statement-breakpoint
ALTER TABLE "advisory_entries" ALTER COLUMN "uid" TYPE text COLLATE "C" USING substr("uid", length(rtrim("key", '/*')) + 1);--> statement-breakpoint
ALTER TABLE "advisory_entries" RENAME COLUMN "uid" TO "tail";--> statement-breakpoint
ALTER TABLE "advisory_entries" RENAME CONSTRAINT "advisory_entries_key_name_uid_pk" TO "advisory_entries_key_name_tail_pk";--> statement-breakpoint
ALTER TABLE "subscription_entries" ALTER COLUMN "uid" TYPE text COLLATE "C" USING substr("uid", length(rtrim("key", '/*')) + 1);--> statement-breakpoint
ALTER TABLE "subscription_entries" RENAME COLUMN "uid" TO "tail";--> statement-breakpoint
ALTER TABLE "subscription_entries" RENAME CONSTRAINT "subscription_entries_key_name_uid_pk" TO "subscription_entries_key_name_tail_pk";--> statement-breakpoint
ALTER TABLE "identity_provider_entries" ALTER COLUMN "uid" TYPE text COLLATE "C" USING substr("uid", length(rtrim("key", '/*')) + 1);--> statement-breakpoint
ALTER TABLE "identity_provider_entries" RENAME COLUMN "uid" TO "tail";--> statement-breakpoint
ALTER TABLE "identity_provider_entries" RENAME CONSTRAINT "identity_provider_entries_key_name_uid_pk" TO "identity_provider_entries_key_name_tail_pk";--> statement-breakpoint
ALTER TABLE "external_group_role_mapping_entries" ALTER COLUMN "uid" TYPE text COLLATE "C" USING substr("uid", length(rtrim("key", '/*')) + 1);--> statement-breakpoint
ALTER TABLE "external_group_role_mapping_entries" RENAME COLUMN "uid" TO "tail";--> statement-breakpoint
ALTER TABLE "external_group_role_mapping_entries" RENAME CONSTRAINT "external_group_role_mapping_entries_key_name_uid_pk" TO "external_group_role_mapping_entries_key_name_tail_pk";--> statement-breakpoint
ALTER TABLE "terms_acceptance_entries" ALTER COLUMN "uid" TYPE text COLLATE "C" USING substr("uid", length(rtrim("key", '/*')) + 1);--> statement-breakpoint
ALTER TABLE "terms_acceptance_entries" RENAME COLUMN "uid" TO "tail";--> statement-breakpoint
ALTER TABLE "terms_acceptance_entries" RENAME CONSTRAINT "terms_acceptance_entries_key_name_uid_pk" TO "terms_acceptance_entries_key_name_tail_pk";--> statement-breakpoint
ANALYZE "group_entries";--> statement-breakpoint
ANALYZE "identity_entries";--> statement-breakpoint
ANALYZE "role_entries";--> statement-breakpoint
ANALYZE "role_binding_entries";--> statement-breakpoint
ANALYZE "group_invite_entries";--> statement-breakpoint
ANALYZE "account_association_entries";--> statement-breakpoint
ANALYZE "repo_entries";--> statement-breakpoint
ANALYZE "tag_entries";--> statement-breakpoint
ANALYZE "advisory_entries";--> statement-breakpoint
ANALYZE "subscription_entries";--> statement-breakpoint
ANALYZE "identity_provider_entries";--> statement-breakpoint
ANALYZE "external_group_role_mapping_entries";--> statement-breakpoint
ANALYZE "terms_acceptance_entries";
