// Categories L and C for invites: the code is known to its holder and to nobody else.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { digestInviteCode, newInviteCode } from "../../src/services/iam/invites/invite-code.ts";
import { collections } from "../../src/services/resources.ts";
import { readChanges } from "../../src/storage/change-log/change-log.ts";
import { checkDatabase } from "../../src/storage/check/check-database.ts";
import { findRow } from "../../src/storage/collection/rows.ts";
import { groupInviteCollection } from "../../src/storage/iam/collections.ts";
import type { GroupInviteRow } from "../../src/storage/iam/rows.ts";
import { keptLog } from "../harness/kept-log.ts";
import { type Ground, openGround, replyOf } from "./ground.ts";
import { viewerRole } from "./tree.ts";

let ground: Ground;
const log = keptLog();

describe("invite codes", () => {
  before(async () => {
    ground = await openGround({ log: log.stream });
  });
  after(() => ground[Symbol.asyncDispose]());

  it("L1: a code is in no row, no change and no log line, and neither is its digest in the changes", async () => {
    const { server, once } = ground;
    const { database } = server.server;
    const groupInvite = { roleUid: viewerRole.uid, ttl: "60s" };
    const created = await once(server.ownerToken, "GroupInvitesService/CreateGroupInvite", {
      parent: server.groupUid,
      groupInvite,
    });
    const { uid, code } = replyOf(created) as { uid: string; code: string };
    const changed = { groupInvite: { uid, email: "a@example.org" }, updateMask: "email" };
    replyOf(await once(server.ownerToken, "GroupInvitesService/UpdateGroupInvite", changed));
    const row = (await findRow(database.session, groupInviteCollection, uid)) as GroupInviteRow;
    assert.equal(row.codeDigest, digestInviteCode(code));
    const changes = await readChanges(database.session, 0, 1000);
    const ofInvite = changes.filter((change) => change.uid === uid);
    assert.equal(ofInvite.length, 2);
    const secret = code.slice(row.keyId.length);
    assert.ok(!JSON.stringify([row, changes]).includes(secret));
    assert.ok(!JSON.stringify(changes).includes(row.codeDigest));
    log.assertNone(secret);
  });

  it("C3: every code has 256 random bits behind its name", () => {
    const [one, other] = [newInviteCode(), newInviteCode()];
    assert.match(one.code, /^[0-9a-f]{96}$/);
    assert.ok(one.code.startsWith(one.keyId));
    assert.notEqual(one.code.slice(32), other.code.slice(32));
    assert.notEqual(one.keyId, other.keyId);
  });

  it("redundant columns agree after associations came and went", async () => {
    const { server, once } = ground;
    const accountAssociation = { name: "clouds" };
    const parent = server.groupUid;
    const before = await checkDatabase(server.server.database.session, collections);
    replyOf(
      await once(server.ownerToken, "AccountAssociationsService/CreateAccountAssociation", {
        parent,
        accountAssociation,
      }),
    );
    const during = await checkDatabase(server.server.database.session, collections);
    await once(server.ownerToken, "AccountAssociationsService/DeleteAccountAssociation", { uid: parent });
    const afterwards = await checkDatabase(server.server.database.session, collections);
    assert.deepEqual([before.findings, during.findings, afterwards.findings], [[], [], []]);
    assert.deepEqual([during.rows - before.rows, afterwards.rows], [1, before.rows]);
  });
});
