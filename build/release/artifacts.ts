// The files that accompany a release: checksums and provenance.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** The version, commit and repository that a release is built from. */
export interface Source {
  readonly version: string;
  /** The commit, 40 hexadecimal digits. */
  readonly commit: string;
  /** The address of the repository, if it is a public one (https or ssh). */
  readonly repository: string | undefined;
  readonly startedAt: Date;
  /** The checks that were left out. */
  readonly skipped: readonly string[];
}

/** A file of a release and its SHA-256 digest in hexadecimal digits. */
export interface Artifact {
  readonly name: string;
  readonly sha256: string;
}

export function artifactsIn(folder: string): Artifact[] {
  const names = readdirSync(folder).sort();
  return names.map((name) => ({ name, sha256: sha256Of(path.join(folder, name)) }));
}

export function sha256Of(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

/** Writes SHA256SUMS, which `sha256sum --check` reads, about every other file of the folder. */
export function writeChecksums(folder: string): void {
  const lines = artifactsIn(folder).map(({ name, sha256 }) => `${sha256}  ${name}\n`);
  writeFileSync(path.join(folder, "SHA256SUMS"), lines.join(""));
}

/**
 * Returns the provenance of the files: an in-toto statement (v1) with the predicate of SLSA (v1). It is not signed: sign it with a key
 * of yours, such as by `cosign attest-blob`.
 */
export function provenanceOf(artifacts: readonly Artifact[], source: Source, lockFile: string): object {
  const { version, commit, repository, startedAt, skipped } = source;
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: artifacts.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:gatehouse:release:v1",
        externalParameters: { version, ...(repository && { repository }), skipped },
        internalParameters: { node: process.versions.node, platform: process.platform, arch: process.arch },
        resolvedDependencies: [
          { name: "source", ...(repository && { uri: `git+${repository}` }), digest: { gitCommit: commit } },
          { name: "package-lock.json", digest: { sha256: sha256Of(lockFile) } },
        ],
      },
      runDetails: {
        builder: { id: "urn:gatehouse:release:npm-run-release" },
        metadata: { startedOn: startedAt.toISOString(), finishedOn: new Date().toISOString() },
      },
    },
  };
}
