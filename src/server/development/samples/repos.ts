// Sample repos for the development server.
import { createHash } from "node:crypto";
import { CatalogTier } from "../../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { newChild } from "../../../model/uid.ts";
import { insertRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { insertManifest } from "../../../storage/registry/manifests.ts";
import { type RepoRow, repoCollection, type TagRow, tagCollection } from "../../../storage/registry/rows.ts";

const names = [
  "go",
  "haproxy",
  "jre",
  "memcached",
  "nginx",
  "node",
  "php",
  "postgres",
  "python",
  "redis",
  "ruby",
  "rust",
  "static",
  "valkey",
];

/** Sizes of the sample images, in bytes. */
const sizes = { amd64: 21_000_000, arm64: 20_000_000 };

/** Adds 14 repos to a group, each with three tags that lists show and one that they omit. */
export async function insertSampleRepos(tx: Transaction, parent: string): Promise<void> {
  for (const [i, name] of names.entries()) {
    const repo = repoRow(tx, parent, name);
    await insertRow(tx, repoCollection, repo);
    for (const tag of ["latest", "latest-dev", `${i + 1}.0`, `${i + 1}.0-r0`]) {
      await insertRow(tx, tagCollection, tagRow(tx, repo, tag));
    }
    for (const digest of [digestOf(name, "image"), digestOf(name, "dev")]) {
      for (const [architecture, size] of Object.entries(sizes)) {
        await insertManifest(tx, { repoUid: repo.uid, digest, architecture, size: size + name.length * 1_000 });
      }
    }
  }
}

function repoRow(tx: Transaction, parent: string, name: string): RepoRow {
  const { time } = tx.context;
  return {
    uid: newChild(parent),
    parent,
    name,
    description: `The image of ${name}`,
    createTime: time,
    updateTime: time,
    catalogTier: name === "static" ? CatalogTier.BASE : CatalogTier.APPLICATION,
    bundles: ["application"],
    aliases: [`docker.io/library/${name}:latest`],
    activeTags: ["latest"],
  };
}

function tagRow(tx: Transaction, repo: RepoRow, name: string): TagRow {
  const { time } = tx.context;
  const digest = digestOf(repo.name, name === "latest-dev" ? "dev" : "image");
  return {
    uid: newChild(repo.uid),
    parent: repo.uid,
    name,
    digest,
    createTime: time,
    updateTime: time,
    deprecated: false,
    bundles: [],
    isReferrer: false,
    isDate: false,
    isEpoch: name.endsWith("-r0"),
  };
}

function digestOf(repo: string, variant: string): string {
  return `sha256:${createHash("sha256").update(`${repo} ${variant}`).digest("hex")}`;
}
