// The names that OSV has registered (https://ossf.github.io/osv-schema/, 1.9): ecosystems, and what ids begin with.

/** The version of the schema that records are written by. */
export const schemaVersion = "1.9.0";

/** What packages are of. */
export const ecosystems: readonly string[] = [
  ...["AlmaLinux", "Alpaquita", "Alpine", "Android", "Azure Linux", "BellSoft Hardened Containers", "Bioconductor"],
  ...["Bitnami", "Chainguard", "CleanStart", "ConanCenter", "CRAN", "crates.io", "Debian", "Docker Hardened Images"],
  ...["Echo", "FreeBSD", "GHC", "GitHub Actions", "Go", "Hackage", "Hex", "Homebrew", "Julia", "Kubernetes", "Linux"],
  ...["Mageia", "Maven", "MinimOS", "npm", "NuGet", "opam", "openEuler", "openSUSE", "OSS-Fuzz", "Packagist"],
  ...["Photon OS", "Pub", "PyPI", "Red Hat", "Rocky Linux", "Root", "RubyGems", "SUSE", "SwiftURL", "TuxCare"],
  ...["Ubuntu", "vcpkg", "VSCode", "Wolfi", "WordPress"],
];

/** The databases whose ids are known by what they begin with. */
export const databases: readonly string[] = [
  ...["ASB-A", "PUB-A", "ALPINE", "ALSA", "ALBA", "ALEA", "AZL", "BELL", "BIT", "BREW", "CGA", "CLEANSTART", "CLSA"],
  ...["CURL", "CVE", "DEBIAN", "DHI", "DRUPAL", "DSA", "DLA", "ELA", "DTSA", "ECHO", "EEF", "FreeBSD", "GHSA", "GO"],
  ...["GSD", "HSEC", "JLSEC", "KUBE", "LBSEC", "LSN", "MAL", "MINI", "MGASA", "OESA", "OSEC", "OSV", "openSUSE-SU"],
  ...["PHSA", "PSF", "PYSEC", "RHBA", "RHEA", "RHSA", "RLSA", "RXSA", "RSEC", "ROOT", "RUSTSEC", "SUSE-SU", "SUSE-RU"],
  ...["SUSE-FU", "SUSE-OU", "UBUNTU", "USN", "V8", "VCPKG"],
];

/** What is wrong with the ecosystem of a package, as a sentence; empty when OSV has it. */
export function ecosystemProblem(ecosystem: string): string {
  const [name = "", ...version] = ecosystem.split(":");
  if (!ecosystems.includes(name)) {
    const meant = ecosystems.find((known) => known.toLowerCase() === name.toLowerCase());
    return `OSV has no ecosystem ${JSON.stringify(name)}${meant === undefined ? "" : `, but ${JSON.stringify(meant)}`}`;
  }
  return version.length > 0 && version.join(":") === "" ? `behind the colon of ${ecosystem} there is no version` : "";
}

/** An id as that of an OSV record: those of databases that are not registered begin with `x_`. */
export function recordId(id: string): string {
  return id.startsWith("x_") || databases.some((name) => id.startsWith(`${name}-`)) ? id : `x_${id}`;
}

/** The hint to an ecosystem that is wrong. */
export const ecosystemHint = `Its ecosystems are ${ecosystems.join(", ")}; a colon and a version may follow, as in Alpine:v3.22.`;
