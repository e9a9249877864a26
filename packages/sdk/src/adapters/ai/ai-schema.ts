/** A JSON schema in the form of Standard Schema, which AI SDK 6 and 7 read without a package of theirs. */
export interface AiSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'croft';
    readonly validate: (value: unknown) => { readonly value: unknown };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
  };
}

/** Passes the schema on without checks: the server checks the input, and its error is written for a model. */
export function toAiSchema(schema: Record<string, unknown>): AiSchema {
  return {
    '~standard': {
      ...{ version: 1, vendor: 'croft' },
      validate: (value) => ({ value }),
      jsonSchema: { input: () => schema, output: () => schema },
    },
  };
}
