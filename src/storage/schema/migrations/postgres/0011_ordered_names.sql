-- Entries have as much of a name as counts in an order.
UPDATE "group_entries" SET "name" = substr("name", 1, 384) WHERE length("name") > 384;--> statement-breakpoint
UPDATE "identity_entries" SET "name" = substr("name", 1, 384) WHERE length("name") > 384;--> statement-breakpoint
UPDATE "role_entries" SET "name" = substr("name", 1, 384) WHERE length("name") > 384;--> statement-breakpoint
UPDATE "account_association_entries" SET "name" = substr("name", 1, 384) WHERE length("name") > 384;--> statement-breakpoint
UPDATE "identity_provider_entries" SET "name" = substr("name", 1, 384) WHERE length("name") > 384;--> statement-breakpoint
UPDATE "repo_entries" SET "name" = substr("name", 1, 384) WHERE length("name") > 384;--> statement-breakpoint
UPDATE "tag_entries" SET "name" = substr("name", 1, 384) WHERE length("name") > 384;--> statement-breakpoint
UPDATE "advisory_entries" SET "name" = substr("name", 1, 384) WHERE length("name") > 384;--> statement-breakpoint
UPDATE "terms_acceptance_entries" SET "name" = substr("name", 1, 384) WHERE length("name") > 384;