import { z } from 'zod';
import {
  Description,
  must,
  mustBeOneOf,
  Name,
  NonEmpty,
  positiveInteger,
  recordFields,
  wholeMust,
} from './field-schemas.ts';

const permissionModes = ['edit', 'ask', 'bypass'] as const;
const networkModes = ['allow-all', 'deny-all', 'restricted'] as const;
const sizes = ['tiny', 'xsmall', 'small', 'medium', 'large'] as const;
const runtimes = ['bash', 'python', 'node'] as const;
const maxTimeoutSeconds = 600;
const maxOutputBytes = 262_144;
const maxIdleSeconds = 604_800;
const maxLifetimeSeconds = 2_592_000;

const allowList = z
  .array(z.string(must('be a string')), must('be an array of strings'))
  .max(1000, must('have at most 1000 entries'));

export const SandboxNetwork = z.object(
  {
    mode: z.enum(networkModes, mustBeOneOf(networkModes)),
    allowDomains: allowList.optional(),
    allowCidrs: allowList.optional(),
  },
  must('be an object'),
);

const someRuntimes = `be a non-empty array of: ${runtimes.join(', ')}`;
const Runtimes = z.array(z.enum(runtimes, wholeMust(someRuntimes)), must(someRuntimes)).min(1, must(someRuntimes));

const strings = 'be an object with string values';
const EnvVars = z
  .record(z.string(), z.string(wholeMust(strings)), must(strings))
  .refine((vars) => !Object.entries(vars).some(isBroken), must('have names without = and no NUL'));

const Lifecycle = z.object(
  {
    idleTimeoutSeconds: positiveInteger(maxIdleSeconds).optional(),
    maxLifetimeSeconds: positiveInteger(maxLifetimeSeconds).optional(),
  },
  must('be an object'),
);

const someHooks = 'be a non-empty array of non-empty strings';
const Hook = z.string(wholeMust(someHooks)).min(1, wholeMust(someHooks));
const Hooks = z.array(Hook, must(someHooks)).min(1, must(someHooks));

const labels = 'be an object of at most 64 short strings';
const Label = z.string(wholeMust(labels)).min(1, wholeMust(labels)).max(128, wholeMust(labels));
export const RunnerLabels = z
  .record(Label, Label, must(labels))
  .refine((given) => Object.keys(given).length <= 64, must(labels));

/** A sandbox's config as a caller writes it. Unknown fields are dropped. */
export const SandboxConfigInput = z.object(
  {
    provider: z.string(must('be a string')).prefault('bubblewrap'),
    /** For the provider `remote`: the runner for its commands, or labels that the runner must have. */
    runner: NonEmpty.optional(),
    labels: RunnerLabels.optional(),
    permissionMode: z.enum(permissionModes, mustBeOneOf(permissionModes)).prefault('ask'),
    /** Control files that agents may change without an approval, by name: `.vscode`, `.git/hooks`. */
    allowControl: z
      .array(z.string(must('be a string')), must('be an array of strings'))
      .max(100, must('have at most 100 entries'))
      .optional(),
    /** The older spelling of `network`: `true` is `allow-all`, `false` is `deny-all`. */
    internet: z.boolean(must('be a boolean')).optional(),
    network: SandboxNetwork.optional(),
    size: z.enum(sizes, mustBeOneOf(sizes)).optional(),
    snapshot: z.string(must('be a string')).optional(),
    runtimes: Runtimes.prefault([...runtimes]),
    timeout: positiveInteger(maxTimeoutSeconds).optional(),
    memoryLimit: positiveInteger().optional(),
    outputLimitBytes: positiveInteger(maxOutputBytes).optional(),
    envVars: EnvVars.optional(),
    options: z.record(z.string(), z.unknown(), must('be an object')).optional(),
    persistent: z.boolean(must('be a boolean')).optional(),
    lifecycle: Lifecycle.optional(),
    onCreate: Hooks.optional(),
    onResume: Hooks.optional(),
  },
  must('be an object'),
);

export const CreateSandbox = z.object(
  { name: Name, description: Description.nullish(), config: SandboxConfigInput.prefault({}) },
  must('be an object'),
);

export const Sandbox = z.object({
  ...recordFields,
  sandboxId: z.string(),
  config: SandboxConfigInput.omit({ internet: true }).required({ network: true }),
});
export type Sandbox = z.output<typeof Sandbox>;

function isBroken([name, value]: [string, string]): boolean {
  return name === '' || /[=\0]/.test(name) || value.includes('\0');
}
