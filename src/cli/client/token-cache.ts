// The token cache, in the layout of the platform's SDK: the SDK and the Terraform provider find tokens of `auth login`,
// and vice versa.
import { globSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { isBearerToken } from "../../../packages/client/src/tokens.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import type { Shell } from "../shell.ts";
import { readIfThere, replaceFile } from "./own-file.ts";

/** The cached files: an API token, or its refresh token. */
export type CachedKind = "oidc-token" | "refresh-token";

/** The cached tokens of one audience. */
export interface TokenCache {
  readonly folder: string;
  pathOf(kind: CachedKind): string;
  read(kind: CachedKind): string | undefined;
  write(kind: CachedKind, token: string): void;
  /** Returns whether there was anything to delete. */
  clear(): boolean;
}

const kinds: readonly CachedKind[] = ["oidc-token", "refresh-token"];

/**
 * Opens `<user cache directory>/chainguard/<audience, every "/" as "-">/{oidc-token,refresh-token}`. Wrong usage for an
 * audience that does not name a folder.
 */
export function openTokenCache(shell: Shell, audience: string): TokenCache {
  if (/^\.{0,2}$/.test(audience)) throw wrongUsage(`${JSON.stringify(audience)} is not an audience of a token`);
  return openFolder(path.join(cacheFolder(shell), audience.replaceAll("/", "-")));
}

function openFolder(folder: string): TokenCache {
  const pathOf = (kind: CachedKind) => path.join(folder, kind);
  return {
    folder,
    pathOf,
    read: (kind) => readToken(pathOf(kind)),
    write: (kind, token) => replaceFile(pathOf(kind), token),
    clear() {
      const found = kinds.filter((kind) => readIfThere(pathOf(kind)) !== undefined);
      for (const kind of kinds) rmSync(pathOf(kind), { force: true });
      return found.length > 0;
    },
  };
}

/** Reads a token from a file; undefined if the file is missing or empty. Fails if it contains something else. */
export function readToken(file: string): string | undefined {
  const token = readIfThere(file)?.trim();
  return token ? checkToken(token, file, 1) : undefined;
}

/** Validates a token for use in a header (RFC 6750 §2.1). Fails with the exit code, without printing the token. */
export function checkToken(token: string, source: string, exitCode: 1 | 2): string {
  if (isBearerToken(token)) return token;
  const problem = "it has a space, a line break or another odd character";
  throw new CommandFailure(`${source} does not contain a token: ${problem}`, { exitCode });
}

/** Returns all caches with tokens, including those that other programs keep per identity, one folder deeper. */
export function openTokenCaches(shell: Shell): TokenCache[] {
  const files = globSync(`{*,*/*}/{${kinds.join(",")}}`, { cwd: cacheFolder(shell) });
  const folders = new Set(files.map((file) => path.dirname(file)));
  return [...folders].sort().map((name) => openFolder(path.join(cacheFolder(shell), name)));
}

function cacheFolder(shell: Shell): string {
  return path.join(userCacheFolder(shell), "chainguard");
}

/** The same folder as Go's os.UserCacheDir. */
function userCacheFolder({ environment }: Shell): string {
  const home = environment.HOME || homedir();
  if (process.platform === "darwin") return path.join(home, "Library", "Caches");
  if (process.platform === "win32") return environment.LocalAppData || path.join(home, "AppData", "Local");
  return environment.XDG_CACHE_HOME || path.join(home, ".cache");
}
