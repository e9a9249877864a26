import { z } from 'zod';
import { Scope } from './accounts.ts';

/** The signed-in person and their rights. */
export const SignedIn = z.object({
  accountId: z.string(),
  /** The name of the account; `operator` for the workspaces that flags name. */
  username: z.string(),
  /** As the audit trail names the caller: `key key_…`, `operator`. */
  label: z.string(),
  scopes: z.array(Scope),
  agents: z.array(z.string()).optional().describe('The agents that the key is bound to'),
  /** Whether this is the operator, for the workspaces that flags name. */
  isOperator: z.boolean(),
  /** When the browser session ends at the latest. Left out: the caller used a key. */
  expiresAt: z.iso.datetime().optional(),
  /** The version of the server. */
  version: z.string(),
});
export type SignedIn = z.output<typeof SignedIn>;

export const SessionAnswer = z.object({ session: SignedIn });

/** Opens the page signed in, once, within a minute. */
export const SignInLink = z.object({
  /** Beginning with `/`, to be put behind the address of the page. */
  path: z.string(),
  once: z.string(),
  expiresAt: z.iso.datetime(),
});
export type SignInLink = z.output<typeof SignInLink>;
