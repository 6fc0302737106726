// The strict schema and the mandatory tests of CSAF 2.0, by csaf-validator-lib.
const library = "@secvisogram/csaf-validator-lib";

interface Result {
  readonly isValid?: boolean;
  readonly errors?: readonly { readonly instancePath: string; readonly message?: string }[];
}
type DocumentTest = (document: unknown) => Result | Promise<Result>;

/** Loads the tests. They have no types of their own. */
export async function loadValidator(): Promise<(document: unknown) => Promise<string[]>> {
  const [schemas, mandatory] = await Promise.all([
    import(`${library}/schemaTests.js`) as Promise<Record<string, DocumentTest>>,
    import(`${library}/mandatoryTests.js`) as Promise<Record<string, DocumentTest>>,
  ]);
  const tests = [schemas.csaf_2_0_strict!, ...Object.values(mandatory)];
  return async (document) => {
    const failures: string[] = [];
    for (const test of tests) {
      const { isValid = true, errors = [] } = await test(document);
      if (!isValid)
        failures.push(...errors.map(({ instancePath, message }) => `${test.name}: ${instancePath} ${message}`));
    }
    return failures;
  };
}
