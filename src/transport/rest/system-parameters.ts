// The system parameters of Google's APIs (https://cloud.google.com/apis/docs/system-parameters), which their client libraries send with any
// method. A field of the request with the same name comes first.

/** Returns why a value is rejected; undefined if it is accepted. */
type Check = (value: string) => string | undefined;

const checkAlt: Check = (value) => (value === "json" ? undefined : "must be json: responses have no other form");
const checkPrettyPrint: Check = (value) =>
  value === "true" || value === "false" ? undefined : "must be true or false";
const rejectFields: Check = () => "is not supported: a response always has all fields";
const rejectKey: Check = () => "is not supported: send a token in the Authorization header";
const rejectCallback: Check = () => "is not supported: a page may call the API if its origin is among cors-origins";

const checks: ReadonlyMap<string, Check> = new Map([
  ["alt", checkAlt],
  ["$alt", checkAlt],
  ["prettyPrint", checkPrettyPrint],
  ["$prettyPrint", checkPrettyPrint],
  ["fields", rejectFields],
  ["$fields", rejectFields],
  ["key", rejectKey],
  ["$key", rejectKey],
  ["access_token", rejectKey],
  ["$access_token", rejectKey],
  ["callback", rejectCallback],
  ["$callback", rejectCallback],
]);

/** Returns the check of a system parameter; undefined for any other name. */
export function systemParameter(name: string): Check | undefined {
  return checks.get(name);
}
