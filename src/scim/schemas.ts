// The attributes of users and groups (RFC 7643 §4). Requests are read by these definitions, and /Schemas shows them.

/** An attribute of a resource, in the form of RFC 7643 §7. */
export interface Attribute {
  readonly name: string;
  readonly type: "string" | "boolean" | "reference" | "complex";
  readonly multiValued: boolean;
  readonly description: string;
  readonly required: boolean;
  readonly caseExact: boolean;
  readonly mutability: "readWrite" | "readOnly" | "immutable";
  readonly returned: "default" | "always";
  readonly uniqueness: "none" | "server";
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly Attribute[];
}

/** A schema of a resource type. */
export interface Schema {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
}

type Options = Partial<Omit<Attribute, "name" | "description">>;

function attribute(name: string, description: string, options: Options = {}): Attribute {
  return {
    name,
    description,
    type: "string",
    multiValued: false,
    required: false,
    caseExact: false,
    mutability: "readWrite",
    returned: "default",
    uniqueness: "none",
    ...options,
  };
}

/** Returns the attributes of each value of a multi-valued attribute (RFC 7643 §2.4). */
function valued(name: string, description: string, subAttributes: readonly Attribute[] = []): Attribute {
  return attribute(name, description, {
    type: "complex",
    multiValued: true,
    subAttributes: [
      ...subAttributes,
      attribute("type", "What the value is for, such as work."),
      attribute("primary", "Whether this is the preferred value.", { type: "boolean" }),
    ],
  });
}

const value = (description: string) => attribute("value", description);
const display = attribute("display", "The value as it is shown.");

const readOnly = { mutability: "readOnly" } as const;

/** RFC 7643 §4.1. There is no password: people sign in at their identity provider. */
export const userSchema: Schema = {
  id: "urn:ietf:params:scim:schemas:core:2.0:User",
  name: "User",
  description: "A person of the identity provider.",
  attributes: [
    attribute("userName", "The name by which the identity provider knows the person, unique in it.", {
      required: true,
      uniqueness: "server",
    }),
    attribute("name", "The parts of the person's name.", {
      type: "complex",
      subAttributes: [
        attribute("formatted", "The whole name."),
        attribute("familyName", "The family name."),
        attribute("givenName", "The given name."),
        attribute("middleName", "The middle names."),
        attribute("honorificPrefix", "Titles before the name."),
        attribute("honorificSuffix", "Titles after the name."),
      ],
    }),
    attribute("displayName", "The name that is shown."),
    attribute("nickName", "The informal name."),
    attribute("profileUrl", "The address of a page about the person.", {
      type: "reference",
      referenceTypes: ["external"],
    }),
    attribute("title", "The title in the company."),
    attribute("userType", "The relation to the company, such as contractor."),
    attribute("preferredLanguage", "The preferred language."),
    attribute("locale", "The locale for dates and numbers."),
    attribute("timezone", "The time zone."),
    attribute("active", "Whether the person may sign in and has access.", { type: "boolean" }),
    valued("emails", "The e-mail addresses. Gatehouse never takes them for verified.", [
      value("The address."),
      display,
    ]),
    valued("phoneNumbers", "The telephone numbers.", [value("The number."), display]),
    valued("addresses", "The postal addresses.", [
      attribute("formatted", "The whole address."),
      attribute("streetAddress", "Street and house number."),
      attribute("locality", "City."),
      attribute("region", "State or region."),
      attribute("postalCode", "Postal code."),
      attribute("country", "Country."),
    ]),
    attribute("groups", "The groups of which the person is a member.", {
      ...readOnly,
      type: "complex",
      multiValued: true,
      subAttributes: [
        attribute("value", "The id of the group.", { ...readOnly, caseExact: true }),
        attribute("$ref", "The address of the group.", {
          ...readOnly,
          type: "reference",
          referenceTypes: ["Group"],
          caseExact: true,
        }),
        attribute("display", "The name of the group.", readOnly),
        attribute("type", "Always direct.", readOnly),
      ],
    }),
  ],
};

/** RFC 7643 §4.3. */
export const enterpriseSchema: Schema = {
  id: "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User",
  name: "EnterpriseUser",
  description: "What a company knows of a person.",
  attributes: [
    attribute("employeeNumber", "The number in the company."),
    attribute("costCenter", "The cost center."),
    attribute("organization", "The organization."),
    attribute("division", "The division."),
    attribute("department", "The department."),
    attribute("manager", "The manager.", {
      type: "complex",
      subAttributes: [
        attribute("value", "The id of the manager.", { caseExact: true }),
        attribute("$ref", "The address of the manager.", {
          type: "reference",
          referenceTypes: ["User"],
          caseExact: true,
        }),
        attribute("displayName", "The name of the manager.", readOnly),
      ],
    }),
  ],
};

/** RFC 7643 §4.2. */
export const groupSchema: Schema = {
  id: "urn:ietf:params:scim:schemas:core:2.0:Group",
  name: "Group",
  description: "A group of people, to which external group role mappings can give roles.",
  attributes: [
    attribute("displayName", "The name of the group.", { required: true }),
    attribute("members", "The users in the group. Groups cannot be members.", {
      type: "complex",
      multiValued: true,
      subAttributes: [
        attribute("value", "The id of the user.", { caseExact: true, mutability: "immutable" }),
        attribute("$ref", "The address of the user.", {
          type: "reference",
          referenceTypes: ["User"],
          caseExact: true,
          mutability: "immutable",
        }),
      ],
    }),
  ],
};

/** An attribute that all resources have, and that no schema lists (RFC 7643 §3.1). */
export const externalId = attribute("externalId", "The id at the identity provider.", { caseExact: true });

/** All schemas. */
export const schemas: readonly Schema[] = [userSchema, enterpriseSchema, groupSchema];

/** Finds an attribute by its name, whose case does not matter (RFC 7643 §2.1). */
export function findAttribute(attributes: readonly Attribute[], name: string): Attribute | undefined {
  const wanted = name.toLowerCase();
  return attributes.find((each) => each.name.toLowerCase() === wanted);
}
