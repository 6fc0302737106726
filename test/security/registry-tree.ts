// Creates further resources in groups: repos with their contents, advisories, subscriptions.
import { create } from "@bufbuild/protobuf";
import { AdvisorySchema } from "../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { newChild } from "../../src/model/uid.ts";
import { insertAdvisory } from "../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { insertRow } from "../../src/storage/collection/rows.ts";
import { subscriptionCollection } from "../../src/storage/events/rows.ts";
import { insertManifest } from "../../src/storage/registry/manifests.ts";
import { type RepoRow, repoCollection, type TagRow, tagCollection } from "../../src/storage/registry/rows.ts";
import type { TestServer } from "../harness/server.ts";
import { arrange } from "./tree.ts";

/** The digest of the image that every repo has. */
export const imageDigest = `sha256:${"a".repeat(64)}`;

/** Adds a repo with an image, and answers its uid. */
export function addRepo(server: TestServer, parent: string): Promise<string> {
  const uid = newChild(parent);
  const row: RepoRow = {
    uid,
    parent,
    name: uid.slice(-16),
    description: "",
    ...times(),
    catalogTier: 0,
    bundles: [],
    aliases: [],
    activeTags: [],
  };
  return arrange(server, async (tx) => {
    await insertRow(tx, repoCollection, row);
    await insertManifest(tx, { repoUid: uid, digest: imageDigest, architecture: "amd64", size: 1 });
    return uid;
  });
}

/** Adds a tag to a repo, and answers its uid. */
export function addTag(server: TestServer, repoUid: string, changes: Partial<TagRow> = {}): Promise<string> {
  const uid = newChild(repoUid);
  const row: TagRow = {
    uid,
    parent: repoUid,
    name: uid.slice(-16),
    digest: imageDigest,
    deprecated: false,
    bundles: [],
    ...times(),
    isReferrer: false,
    isDate: false,
    isEpoch: false,
    ...changes,
  };
  return arrange(server, async (tx) => {
    await insertRow(tx, tagCollection, row);
    return uid;
  });
}

/** Adds a subscription, and answers its uid. */
export function addSubscription(server: TestServer, parent: string): Promise<string> {
  const uid = newChild(parent);
  return arrange(server, async (tx) => {
    const { createTime } = times();
    await insertRow(tx, subscriptionCollection, { uid, parent, sink: "https://example.org/", createTime });
    return uid;
  });
}

/** Adds an advisory, and answers its uid. */
export function addAdvisory(server: TestServer, parent: string): Promise<string> {
  const advisory = create(AdvisorySchema, { advisoryId: newChild("").slice(-16), artifactName: "nginx" });
  return arrange(server, (tx) => insertAdvisory(tx, parent, advisory));
}

function times() {
  const now = Date.now();
  return { createTime: now, updateTime: now };
}
