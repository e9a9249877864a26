import { z } from 'zod';
import { Description, must, mustBeOneOf, Name, NonEmpty, recordFields } from './field-schemas.ts';

const storageProviders = ['local', 's3'] as const;
/** Policy for a change that the bucket cannot store now: fail, or wait on the server's disk. */
const outages = ['refuse', 'queue'] as const;
const authTypes = ['managed', 'assumeRole', 'secret'] as const;

const Toggle = z.object({ enabled: z.boolean(must('be a boolean')).optional() }, must('be an object'));

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

const needed = { roleArn: 'assumeRole', accessKeyId: 'secret', secretName: 'secret' } as const;

function mustBeGiven(setting: keyof typeof needed) {
  return { ...must('be a non-empty string'), path: [setting] };
}

const StorageAuth = z
  .object(
    {
      type: z.enum(authTypes, mustBeOneOf(authTypes)),
      roleArn: NonEmpty.optional(),
      externalId: NonEmpty.optional(),
      accessKeyId: NonEmpty.optional(),
      /** Name of the account's secret with the secret access key. The key itself is never in a record. */
      secretName: NonEmpty.optional(),
    },
    must('be an object'),
  )
  .refine(({ type, roleArn }) => type !== needed.roleArn || roleArn !== undefined, mustBeGiven('roleArn'))
  .refine(({ type, accessKeyId: id }) => type !== needed.accessKeyId || id !== undefined, mustBeGiven('accessKeyId'))
  .refine(({ type, secretName }) => type !== needed.secretName || secretName !== undefined, mustBeGiven('secretName'));

export const WorkspaceStorage = z.object(
  {
    provider: z.enum(storageProviders, mustBeOneOf(storageProviders)).prefault('local'),
    bucket: NonEmpty.optional(),
    region: NonEmpty.optional(),
    endpoint: NonEmpty.refine(isWebAddress, must('be an http or https URL')).optional(),
    forcePathStyle: z.boolean(must('be a boolean')).optional(),
    prefix: z.string(must('be a string')).optional(),
    auth: StorageAuth.optional(),
    onOutage: z.enum(outages, mustBeOneOf(outages)).optional(),
  },
  must('be an object'),
);

const Amount = z.int(must('be a positive integer')).positive(must('be a positive integer'));

/** Limits for all files of a workspace together. */
const Quota = z.object({ bytes: Amount.optional(), files: Amount.optional() }, must('be an object'));

/** A workspace's config as a caller writes it. Unknown fields are dropped. */
export const WorkspaceConfigInput = z.object(
  {
    storage: WorkspaceStorage.prefault({}),
    quota: Quota.optional(),
    isolation: z.boolean(must('be a boolean')).optional(),
    /** The runner with its files. Set when a sandbox on a runner first uses the workspace; a person may change it. */
    home: NonEmpty.optional(),
    /** The workspace that it was forked from. For information only. */
    forkOf: NonEmpty.optional(),
    harness: Toggle.extend({ workspace: Toggle.optional(), memory: Toggle.optional() }).optional(),
  },
  must('be an object'),
);

export const CreateWorkspace = z.object(
  { name: Name, description: Description.nullish(), config: WorkspaceConfigInput.prefault({}) },
  must('be an object'),
);

export const Workspace = z.object({ ...recordFields, workspaceId: z.string(), config: WorkspaceConfigInput });
export type Workspace = z.output<typeof Workspace>;
