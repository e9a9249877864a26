import { z } from 'zod';
import { Description, must, mustBeOneOf, Name, wholeMust } from './field-schemas.ts';

const scopes = ['*', 'read', 'write', 'call', 'approve', 'terminal'] as const;

const meanings =
  'read: see records. write: change records and make keys. call: call tools of agents, which ask as permissionMode ' +
  'says. approve: decide approvals. terminal: direct access of a person to any sandbox over any workspace of the ' +
  'account: terminals now, ports and SSH when they come; nobody is asked, permissionMode does not apply, so a key of a ' +
  'model never has it. *: everything, terminal too.';

export const Scope = z.enum(scopes, mustBeOneOf(scopes));
export type Scope = z.output<typeof Scope>;

export const CreateAccount = z.object({ username: Name, description: Description.nullish() }, must('be an object'));

export const PatchAccount = z.object(
  { username: Name.optional(), description: Description.nullish() },
  must('be an object'),
);

export const Account = z.object({
  accountId: z.string(),
  username: z.string(),
  description: z.string().optional(),
  status: z.enum(['active', 'disabled']),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  version: z.int().positive(),
});
export type Account = z.output<typeof Account>;

const someAgents = 'be a non-empty array of at most 100 ids of agents';
const boundTo =
  'The agents that the key is bound to: it reaches these and nothing else of the account. Left out: it is bound to none';

const someScopes = `be a non-empty array of: ${scopes.join(', ')}`;

export const CreateKey = z.object(
  {
    name: Name,
    scopes: z
      .array(z.enum(scopes, wholeMust(someScopes)), must(someScopes))
      .min(1, must(someScopes))
      .describe(meanings),
    agents: z
      .array(
        z.string(wholeMust(someAgents)).min(1, wholeMust(someAgents)).max(64, wholeMust(someAgents)),
        must(someAgents),
      )
      .min(1, must(someAgents))
      .max(100, must(someAgents))
      .optional()
      .describe(boundTo),
    expiresAt: z.iso.datetime({ offset: true, ...must('be a time such as 2030-01-31T12:00:00Z') }).optional(),
  },
  must('be an object'),
);

export const Key = z.object({
  accountId: z.string(),
  keyId: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  agents: z.array(z.string()).optional().describe(boundTo),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().optional(),
  revokedAt: z.iso.datetime().optional(),
});
export type Key = z.output<typeof Key>;

const maxSecretLength = 65_536;

export const SecretName = z
  .string(must('be a string'))
  .regex(/^[A-Za-z0-9._-]{1,128}$/, must('be 1 to 128 letters, numbers, dots, underscores or hyphens'));

export const PutSecret = z.object(
  {
    value: z
      .string(must('be a non-empty string'))
      .min(1, must('be a non-empty string'))
      .max(maxSecretLength, must(`be at most ${maxSecretLength} characters long`))
      .refine((text) => text !== '********', must('be the secret itself, not ********'))
      .refine((text) => !text.includes('\0') && text.isWellFormed(), must('be text without NUL characters')),
  },
  must('be an object'),
);

/** A secret as lists show it. Its value is written and replaced, and never read back. */
export const Secret = z.object({ name: z.string(), updatedAt: z.iso.datetime() });
