import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Columns } from "../columns.postgres.ts";

/** A sign-in, as far as a refresh needs to know it. */
export interface StoredSignIn {
  /** Claims of the upstream token: at least `iss`, `sub` and `aud`. */
  readonly act: Readonly<Record<string, string>>;
  readonly email?: string;
  readonly emailVerified?: boolean;
  /** The uid of the organization's identity provider; empty for the operator's. */
  readonly provider: string;
  readonly audience: readonly string[];
  readonly scopes?: readonly string[];
  /** The upstream claims as JSON text, where another identity than the person's own was assumed with them; once an object. */
  readonly claims?: string | Readonly<Record<string, unknown>>;
}

/** What people who sign in leave behind for a while. None of it can be used by whoever reads it here. */
export function defineSignInTables(
  columns: Columns,
  groupUid: () => AnyPgColumn,
  identityUid: () => AnyPgColumn,
  providerUid: () => AnyPgColumn,
) {
  const { table, text, integer, json, index, primaryKey } = columns;
  return {
    /** Browsers that were sent to a login provider. */
    signIns: table(
      "sign_ins",
      {
        /** SHA-256 of the state, in hexadecimal digits. */
        id: text().primaryKey(),
        /** SHA-256 of the cookie of the browser. */
        browserDigest: text().notNull(),
        /** Everything else, encrypted under a key that follows from the state. */
        sealed: text().notNull(),
        expireTime: integer().notNull(),
      },
      (t) => [index("sign_ins_expire_time").on(t.expireTime)],
    ),

    /** Tokens that wait for the device without a browser, encrypted for it. */
    headlessSessions: table(
      "headless_sessions",
      {
        /** The public key of the device, base64url. */
        code: text().primaryKey(),
        publicKey: text().notNull(),
        /** Nonce and ciphertext, base64. Empty once they were delivered: the code stays used. */
        encryptedToken: text().notNull(),
        expireTime: integer().notNull(),
      },
      (t) => [index("headless_sessions_expire_time").on(t.expireTime)],
    ),

    /** Who has come by which identity provider: its default role is given once, even to somebody who left in between. */
    providerMembers: table(
      "provider_members",
      {
        providerUid: text().notNull().references(providerUid, { onDelete: "cascade" }),
        /** The person may be deleted, and come back. */
        identityUid: text().notNull(),
        createTime: integer().notNull(),
      },
      (t) => [
        primaryKey({ columns: [t.providerUid, t.identityUid] }),
        index("provider_members_identity").on(t.identityUid),
      ],
    ),

    /** In which organizations people have accepted that roles are bound to them. */
    memberships: table(
      "memberships",
      {
        identityUid: text().notNull().references(identityUid, { onDelete: "cascade" }),
        /** The uid of the root group. */
        groupUid: text().notNull().references(groupUid, { onDelete: "cascade" }),
        createTime: integer().notNull(),
      },
      (t) => [primaryKey({ columns: [t.identityUid, t.groupUid] }), index("memberships_group").on(t.groupUid)],
    ),

    /** One row for each sign-in that may be refreshed. */
    refreshFamilies: table(
      "refresh_families",
      {
        id: text().primaryKey(),
        identityUid: text().notNull().references(identityUid, { onDelete: "cascade" }),
        /** SHA-256 of the only refresh token that is in force. */
        digest: text().notNull(),
        signIn: json<StoredSignIn>().notNull(),
        createTime: integer().notNull(),
        expireTime: integer().notNull(),
      },
      (t) => [
        index("refresh_families_identity").on(t.identityUid, t.createTime),
        index("refresh_families_expire_time").on(t.expireTime),
      ],
    ),
  };
}
