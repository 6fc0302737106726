// Server addresses in flags, variables and files.

/** Returns the problem with a server address, as the end of a sentence, or undefined. */
export function addressProblem(text: string): string | undefined {
  const url = URL.parse(text);
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  // A password is not repeated. Without a scheme, URL parses the user name as one.
  if (isHttp ? url.username !== "" || url.password !== "" : text.includes("@"))
    return "an address must have no user name and no password; GATEHOUSE_TOKEN takes a token";
  if (!isHttp) return `${JSON.stringify(text)} is not an http or https address`;
  if (/[?#\s]/.test(text))
    return `${JSON.stringify(text)} has a query, a fragment or a space, which an address must not have`;
  return undefined;
}
