// VEX repositories: GET /gatehouse/vex/groups/GROUP_UID/.well-known/vex-repository.json, and v0.1/vex.tar.gz, which it names.
import { type RepositoryLimits, repositoryFiles } from "../advisories/openvex/repository.ts";
import { notFound } from "../aip/errors.ts";
import { gzipParts, tarParts } from "../base/tar-writer.ts";
import { decodeSegment, parseOptions } from "./export-request.ts";
import type { ParseFeed } from "./feed.ts";

/** The path prefix of repositories. */
export const vexGroupsPath = "/gatehouse/vex/groups/";

const manifestName = ".well-known/vex-repository.json";
const archiveName = "v0.1/vex.tar.gz";

/** Makes the parser of the requests. The manifest names the archive by the base URL of the server. */
export function vexFeeds(baseUrl: string, limits: RepositoryLimits): ParseFeed {
  return (path, query) => {
    const rest = path.slice(vexGroupsPath.length);
    const name = [manifestName, archiveName].find((each) => rest.endsWith(`/${each}`));
    if (name === undefined) throw notFound("vulnerabilities.gatehouse/VexRepository", rest);
    const group = decodeSegment(rest.slice(0, -name.length - 1), "group");
    const { author, ecosystem } = parseOptions(query);
    const shared = { group, format: "openvex" } as const;
    if (name === manifestName) {
      const parameters = query.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
      const url = `${baseUrl}${vexGroupsPath}${group}/${archiveName}${parameters === "" ? "" : `?${parameters}`}`;
      return {
        ...shared,
        description: { url },
        contentType: "application/json",
        slot: "none",
        write: () => manifestOf(group, url),
      };
    }
    return {
      ...shared,
      description: { name, group, author, ecosystem },
      contentType: "application/gzip",
      slot: "gathered",
      write({ source, time, losses }) {
        const files = repositoryFiles(source, { id: group, author, ecosystem, time }, limits, losses);
        return gzipParts(tarParts(files, Math.floor(time / 1000)));
      },
    };
  };
}

async function* manifestOf(group: string, url: string): AsyncGenerator<string> {
  const version = { spec_version: "0.1", locations: [{ url }], update_interval: "1h" };
  const manifest = {
    name: `Gatehouse ${group}`,
    description: `OpenVEX statements of the group ${group} and of the groups below it`,
    versions: [version],
  };
  yield `${JSON.stringify(manifest, null, 2)}\n`;
}
