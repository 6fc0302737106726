// The changelog, in the form of Keep a Changelog.

const unreleased = "## Unreleased";

/** Returns the entries of the next release, without their heading. Empty if there are none. */
export function unreleasedEntries(changelog: string): string {
  const start = changelog.indexOf(`${unreleased}\n`);
  if (start === -1) return "";
  const rest = changelog.slice(start + unreleased.length);
  const end = rest.search(/^## /m);
  return (end === -1 ? rest : rest.slice(0, end)).trim();
}

/** Returns the changelog with the entries of the next release under its version and date, and an empty section above. */
export function releaseEntries(changelog: string, version: string, date: string): string {
  return changelog.replace(`${unreleased}\n`, `${unreleased}\n\n## ${version} - ${date}\n`);
}
