import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { SignIn } from "../../../model/sign-in.ts";
import type { Columns } from "../columns.postgres.ts";

/**
 * Temporary data of sign-ins. None of it is usable for someone who reads the database.
 * Long, because it only declares.
 */
export function defineSignInTables(
  columns: Columns,
  groupUid: () => AnyPgColumn,
  identityUid: () => AnyPgColumn,
  providerUid: () => AnyPgColumn,
) {
  const { table, text, integer, json, index, primaryKey } = columns;
  return {
    /** Logins in progress: browsers that were redirected to a login provider. */
    signIns: table(
      "sign_ins",
      {
        /** SHA-256 of the state, in hexadecimal digits. */
        id: text().primaryKey(),
        /** SHA-256 of the cookie of the browser. */
        browserDigest: text().notNull(),
        /** Everything else, encrypted with a key derived from the state. */
        sealed: text().notNull(),
        expireTime: integer().notNull(),
      },
      (t) => [index("sign_ins_expire_time").on(t.expireTime)],
    ),

    /** Tokens for devices without a browser, encrypted for the device. */
    headlessSessions: table(
      "headless_sessions",
      {
        /** The public key of the device, base64url. */
        code: text().primaryKey(),
        publicKey: text().notNull(),
        /** Nonce and ciphertext in base64. Empty after delivery: the code remains used. */
        encryptedToken: text().notNull(),
        expireTime: integer().notNull(),
      },
      (t) => [index("headless_sessions_expire_time").on(t.expireTime)],
    ),

    /**
     * Users by the identity provider that they signed in through. Its default role is granted once, even to a user who left in between.
     */
    providerMembers: table(
      "provider_members",
      {
        providerUid: text().notNull().references(providerUid, { onDelete: "cascade" }),
        /** The user may be deleted and sign in again. */
        identityUid: text().notNull(),
        createTime: integer().notNull(),
      },
      (t) => [
        primaryKey({ columns: [t.providerUid, t.identityUid] }),
        index("provider_members_identity").on(t.identityUid),
      ],
    ),

    /** The organizations that a user has joined: only there do role bindings of the user count. */
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

    /** Refresh token families: one row per sign-in that can be refreshed. */
    refreshFamilies: table(
      "refresh_families",
      {
        id: text().primaryKey(),
        identityUid: text().notNull().references(identityUid, { onDelete: "cascade" }),
        /** SHA-256 of the only valid refresh token. */
        digest: text().notNull(),
        signIn: json<SignIn>().notNull(),
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
