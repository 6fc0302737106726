// Where tokens are kept between commands: the layout of the platform's SDK, so that it and the Terraform provider find
// what `auth login` has fetched, and the other way round.
import { rmSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { CommandFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";
import { readIfThere, replaceFile } from "./own-file.ts";

/** What is kept: an API token, or what renews it. */
export type CachedKind = "oidc-token" | "refresh-token";

/** The tokens of one audience. */
export interface TokenCache {
  pathOf(kind: CachedKind): string;
  read(kind: CachedKind): string | undefined;
  write(kind: CachedKind, token: string): void;
  /** Whether there was anything to remove. */
  clear(): boolean;
}

const kinds: readonly CachedKind[] = ["oidc-token", "refresh-token"];

/** `<user cache directory>/chainguard/<audience, every "/" as "-">/{oidc-token,refresh-token}`. */
export function openTokenCache(shell: Shell, audience: string): TokenCache {
  const folder = path.join(userCacheFolder(shell), "chainguard", audience.replaceAll("/", "-"));
  const pathOf = (kind: CachedKind) => path.join(folder, kind);
  return {
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

/** A token in a file; undefined when there is no such file or it is empty. Fails when it holds something else. */
export function readToken(file: string): string | undefined {
  const token = readIfThere(file)?.trim();
  return token ? checkToken(token, file) : undefined;
}

/** The token, which can be sent in a header (RFC 6750 §2.1); fails, without showing it, when it cannot. */
export function checkToken(token: string, source: string): string {
  if (/^[\w.~+/-]+=*$/.test(token)) return token;
  throw new CommandFailure(`what ${source} holds is no token: it has a space, a line break or another odd character`);
}

/** As Go's os.UserCacheDir says. */
function userCacheFolder({ environment }: Shell): string {
  const home = environment.HOME || homedir();
  if (process.platform === "darwin") return path.join(home, "Library", "Caches");
  if (process.platform === "win32") return environment.LocalAppData || path.join(home, "AppData", "Local");
  return environment.XDG_CACHE_HOME || path.join(home, ".cache");
}
