// The security database of a distribution: which version of a package fixed what, and what never concerned it.
import type { Published } from "../published.ts";

/** Gathers a database from advisories. Only what is fixed or a false positive has a place in it. */
export function newSecdb() {
  const packages = new Map<string, Map<string, Set<string>>>();
  const architectures = new Set<string>();
  return {
    /** Answers whether the advisory has a place in the database. */
    add({ advisory, event }: Published): boolean {
      const { type } = event;
      const version =
        type.case === "fixed" ? type.value.fixedVersion : type.case === "falsePositiveDetermination" ? "0" : "";
      if (version === "" || advisory.artifactName === "") return false;
      const fixes = packages.get(advisory.artifactName) ?? new Map<string, Set<string>>();
      packages.set(advisory.artifactName, fixes);
      const ids = fixes.get(version) ?? new Set<string>();
      fixes.set(version, ids);
      for (const id of advisory.aliases.length > 0 ? advisory.aliases : [advisory.advisoryId]) ids.add(id);
      if (advisory.artifactArchitecture !== "") architectures.add(advisory.artifactArchitecture);
      return true;
    },
    document(urlprefix: string) {
      return {
        apkurl: "{{urlprefix}}/{{reponame}}/{{arch}}/{{pkg.name}}-{{pkg.ver}}.apk",
        archs: [...architectures].sort(),
        reponame: "os",
        urlprefix,
        packages: [...packages.entries()]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, fixes]) => ({
            pkg: { name, secfixes: Object.fromEntries([...fixes].map(([version, ids]) => [version, [...ids].sort()])) },
          })),
      };
    },
  };
}
