// The names that OSV has registered (https://ossf.github.io/osv-schema/, 1.9).

/** The version of the schema that records are written by. */
export const schemaVersion = "1.9.0";

/** The databases whose ids are known by their prefix. */
export const databases: readonly string[] = [
  "ASB-A",
  "PUB-A",
  "ALPINE",
  "ALSA",
  "ALBA",
  "ALEA",
  "AZL",
  "BELL",
  "BIT",
  "BREW",
  "CGA",
  "CLEANSTART",
  "CLSA",
  "CURL",
  "CVE",
  "DEBIAN",
  "DHI",
  "DRUPAL",
  "DSA",
  "DLA",
  "ELA",
  "DTSA",
  "ECHO",
  "EEF",
  "FreeBSD",
  "GHSA",
  "GO",
  "GSD",
  "HSEC",
  "JLSEC",
  "KUBE",
  "LBSEC",
  "LSN",
  "MAL",
  "MINI",
  "MGASA",
  "OESA",
  "OSEC",
  "OSV",
  "openSUSE-SU",
  "PHSA",
  "PSF",
  "PYSEC",
  "RHBA",
  "RHEA",
  "RHSA",
  "RLSA",
  "RXSA",
  "RSEC",
  "ROOT",
  "RUSTSEC",
  "SUSE-SU",
  "SUSE-RU",
  "SUSE-FU",
  "SUSE-OU",
  "UBUNTU",
  "USN",
  "V8",
  "VCPKG",
];

/** The types of references. */
export const referenceTypes: readonly string[] = [
  "ADVISORY",
  "ARTICLE",
  "DETECTION",
  "DISCUSSION",
  "REPORT",
  "FIX",
  "INTRODUCED",
  "GIT",
  "PACKAGE",
  "EVIDENCE",
  "WEB",
];

/** Returns an id as that of an OSV record: those of databases that are not registered begin with `x_`. */
export function recordId(id: string): string {
  return id.startsWith("x_") || databases.some((name) => id.startsWith(`${name}-`)) ? id : `x_${id}`;
}
