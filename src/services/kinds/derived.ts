// Derives the methods and fields of a kind of resource from the protos.
import { type DescMessage, type DescMethodUnary, type DescService, getOption } from "@bufbuild/protobuf";
import type { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { ResourceSpecSchema, type SpecKind, SpecKindSchema } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { resource as resourceOption } from "../../../gen/google/api/resource_pb.ts";
import { accessRuleOf } from "../../authz/rules.ts";

/** The methods of a kind, and the field and the capability that belong to them, as derived from its protos. */
export interface Methods {
  readonly methods: {
    readonly create: DescMethodUnary | undefined;
    readonly update: DescMethodUnary | undefined;
    readonly delete: DescMethodUnary | undefined;
  };
  /** The field of a request with the resource, such as `roleBinding`. */
  readonly requestField: string;
  /** The capability that the list of the kind requires. */
  readonly listCapability: Capability;
}

/** The methods and fields of a kind that files have, as derived from its protos. */
export interface Derived extends Methods {
  readonly methods: Methods["methods"] & { readonly create: DescMethodUnary; readonly delete: DescMethodUnary };
  /** The number of the kind in requests. */
  readonly number: SpecKind;
  /** The field of ResourceSpec, such as `role_binding`, and its message. */
  readonly field: string;
  readonly specSchema: DescMessage;
}

/** Derives the methods of a kind. Throws if they have no list, or one that requires no capability. */
export function deriveMethods({ schema, service }: { schema: DescMessage; service: DescService }): Methods {
  const { singular, plural } = getOption(schema, resourceOption);
  const find = (verb: string, noun = singular) =>
    service.method[`${verb}${noun.charAt(0).toUpperCase()}${noun.slice(1)}`] as DescMethodUnary | undefined;
  const rule = accessRuleOf(found(find("list", plural), `${service.typeName} has no list of ${plural}`));
  const [listCapability] = rule && rule.type !== "open" ? rule.capabilities : [];
  return {
    methods: { create: find("create"), update: find("update"), delete: find("delete") },
    requestField: singular,
    listCapability: found(listCapability as Capability | undefined, `the list of ${plural} requires no capability`),
  };
}

/** Derives the methods and fields of a kind that files have. Throws if a standard method or the number of the kind is missing. */
export function derive(kind: { name: string; schema: DescMessage; service: DescService }): Derived {
  const { name, service } = kind;
  const { methods, ...rest } = deriveMethods(kind);
  const spec = found(
    ResourceSpecSchema.fields.find(({ localName }) => localName === name),
    `ResourceSpec has no field ${name}`,
  );
  const valueName = `SPEC_KIND_${spec.name.toUpperCase()}`;
  const number = SpecKindSchema.values.find((value) => value.name === valueName)?.number;
  return {
    ...rest,
    methods: {
      ...methods,
      create: found(methods.create, `${service.typeName} has no method that creates ${name}`),
      delete: found(methods.delete, `${service.typeName} has no method that deletes ${name}`),
    },
    number: found(number as SpecKind | undefined, `SpecKind has no value ${valueName}`),
    field: spec.name,
    specSchema: found(spec.message, `the field ${name} of ResourceSpec has no message`),
  };
}

function found<T>(value: T | undefined, problem: string): T {
  if (value === undefined) throw new Error(problem);
  return value;
}
