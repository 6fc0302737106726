// Parameters of queries and forms.
import { invalidField } from "./errors.ts";

/** The decoded parameters of a query or form, in order. */
export type Parameters = readonly (readonly [name: string, value: string])[];

/** Returns the values of a parameter that may be repeated. */
export function parametersOf(parameters: Parameters, name: string): string[] {
  return parameters.filter(([candidate]) => candidate === name).map(([, value]) => value);
}

/** Returns the value of a parameter, or undefined if it is absent. Throws INVALID_ARGUMENT if it is repeated. */
export function parameterOf(parameters: Parameters, name: string): string | undefined {
  const [value, second] = parametersOf(parameters, name);
  if (second !== undefined) throw invalidField(name, "must not be given twice");
  return value;
}

/** Like `parameterOf`, and throws INVALID_ARGUMENT if the parameter is absent or empty. */
export function requiredParameterOf(parameters: Parameters, name: string): string {
  const value = parameterOf(parameters, name);
  if (value === undefined || value === "") throw invalidField(name, `${name} is required`);
  return value;
}
