// Where `npm run test:advisories` gets real OSV records: packages of registries that contain some, by name and pinned by their SHA-256.
// Nothing of them is kept in the repository.

/** A package with OSV records. */
export interface OsvSource {
  readonly url: string;
  readonly sha256: string;
  /** The paths of the records in the archive. */
  readonly records: RegExp;
  /** How many there are. */
  readonly count: number;
  /** What the reader reports, by the id of the record. */
  readonly problems: Readonly<Record<string, readonly string[]>>;
}

const goProxy = "https://proxy.golang.org";
const pypi = "https://files.pythonhosted.org/packages";

/** The packages. Their records are of seventeen ecosystems. */
export const osvSources: readonly OsvSource[] = [
  {
    url: `${goProxy}/golang.org/x/vulndb/@v/v0.0.0-20261105234957-e22db6528018.zip`,
    sha256: "54ac927061aa0aac9f2539f3e76fd35596f8e8b95dcdcc498a8bf23ffe9c5267",
    records: /[/]data[/]osv[/][^/]+[.]json$/,
    count: 4789,
    problems: {},
  },
  {
    url: `${goProxy}/github.com/aquasecurity/trivy-db/@v/v0.0.0-20260813095258-0e0340a01b57.zip`,
    sha256: "6c608376ea52085b798456142a16e338b9351251ba8b522bca5f8ec189beac28",
    records:
      /[/]vulnsrc[/](osv|ghsa|govulndb|bitnami|seal|k8svulndb)[/]testdata[/]happy[^/]*[/].*[/][A-Z]+-[^/]+[.]json$/,
    count: 31,
    problems: {
      "CVE-2023-2727": ["affected[0].ranges[0].type: is missing"],
      "PYSEC-2018-27": ["affected[0].package.purl: must be a package URL"],
    },
  },
  {
    url: `${pypi}/6c/d8/9e41b4e09e3d17e251bcac922461a0daaa8581495b47e9b7ddb884c0b0e8/vunnel-0.65.1.tar.gz`,
    sha256: "fa26a17abb3d7ee00bfcc00b620b59a5e5e6d486d2343bfe19bf1740f1584b1a",
    records: /[/]test-fixtures[/](osv|input[/]osv|vulndb)[^/]*[/](.*[/])?(?!all)[A-Za-z]+-[^/]+[.]json$/,
    count: 53,
    problems: {},
  },
  {
    url: `${pypi}/3c/da/02785ee14a67288465195c62c9987e93df5c414b99e531ada8dffc7f0a05/vulnerablecode-40.2.0.tar.gz`,
    sha256: "70de487646ee78c8f349347f0d1df92480f6f7139de55d17cd7f383b10566010",
    records: /[/]test_data[/](github_osv|osv_test|pysec|ubuntu)[/](?!.*expected).*[.]json$/,
    count: 22,
    problems: {},
  },
];
